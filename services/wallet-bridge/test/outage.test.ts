import { scopeKey } from '@pitboss/contracts/caller'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { newId } from '@pitboss/runtime/new-id'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { parseKeyring } from '@pitboss/storage/keyring'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { exactReads } from '@pitboss/testing/exact-reads'
import { withEngines } from '@pitboss/testing/with-engines'
import { randomBytes } from 'node:crypto'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import t from 'tap'
import { advanceDue } from '../src/actions/advance-due.ts'
import { placeMovement } from '../src/actions/place-movement.ts'
import { openSettlement } from '../src/context.ts'
import type { WalletClient } from '../src/clients/wallet-client.ts'
import { nextTryWithinMs } from '../src/rules/retry-schedule.ts'
import { indexes } from '../src/all-wings.ts'
import { createWallets } from '../src/storage/wallet-document.ts'
import { newScope, silentLogger, specOf } from './fixtures/bridge.ts'
import { openTestMoney } from './fixtures/test-money.ts'

const s = 1000
const min = 60 * s
const h = 60 * min
const unscaled = (ms: number) => ms

const engines = await withEngines(t, { fresh: true })
const storage = await connectStorage({
  url: engines.mongodbUrl,
  database: `${engines.databasePrefix}_outage`,
  logger: silentLogger,
})
t.teardown(() => storage.close())
await ensureIndexes(storage.db, indexes)
const keyring = parseKeyring(`k1:${randomBytes(32).toString('base64')}`)
const wallets = createWallets(storage.db, createSecretBox(keyring), exactReads)
const { movements, unfinished } = await openTestMoney(t, storage.db)
const scope = newScope()
const walletKey = scopeKey(scope)
await wallets.create(
  scope,
  {
    url: 'https://wallet.example',
    timeoutMs: 5 * s,
    settleLosses: 'none',
    secret: 'secret',
    at: new Date(0),
  },
  () => sampleAuditEntry(),
)

/** Settlement on a clock of its own, which only `passTo` moves. */
function createOutage(answer: (call: { operation: string; id: string }) => { status: number; body: object }) {
  const startMs = Date.UTC(2026, 10, 22, 12)
  let nowMs = startMs
  const clock = { now: () => new Date(nowMs) }
  let pulling: Promise<unknown> = Promise.resolve()
  let pulls = 0
  const client: WalletClient = {
    async call({ operation, body, requestId }) {
      const id = String(JSON.parse(body).transactionId)
      const { status: httpStatus, body: told } = answer({ operation, id })
      return {
        exchange: {
          kind: 'answer',
          httpStatus,
          body: Buffer.from(JSON.stringify(told)),
          cutOff: false,
          date: null,
        },
        sentAt: clock.now(),
        latencyMs: 1,
        request: { url: '', timestamp: '', requestId },
      }
    },
    close: async () => undefined,
  }
  const settlement = openSettlement({
    movements,
    wallets,
    client,
    clock,
    newId,
    scaleMs: unscaled,
    due: {
      ...unfinished,
      pullForward: (key, now) => {
        pulls += 1
        const work = unfinished.pullForward(key, now)
        pulling = work
        return work
      },
    },
    askStanding: async () => 'not-taken',
    audit: { entry: () => sampleAuditEntry() },
    metrics: { callEnded: () => undefined, repeatedAtFirstTry: () => undefined },
    logger: silentLogger,
    wake: () => undefined,
  })
  const place = async (change: Partial<MovementSpec>) => {
    try {
      await placeMovement(
        settlement,
        scope,
        { spec: specOf(change) },
        { requestId: 'req_1', deadlineAtMs: nowMs + 10 * s },
      )
    } catch (error) {
      // The breaker holds back a stake.
      if (!(error instanceof ServiceError && error.code === 'WALLET_UNAVAILABLE')) throw error
    }
    await pulling
  }
  return {
    ageMs: () => nowMs - startMs,
    pulls: () => pulls,
    breakerOpen: () => settlement.breakers.isOpen(walletKey),
    place,
    /** The wins that wait, with the time at which this process tries them. */
    async owed() {
      const waiting = await unfinished.ofWallet(walletKey, new Date(nowMs + 24 * h), 128)
      return waiting.filter(({ type, status }) => type === 'WIN' && status === 'PENDING')
    },
    /** Does what is due at that age. */
    async passTo(ageMs: number) {
      nowMs = startMs + ageMs
      const due = await unfinished.ofWallet(walletKey, clock.now(), 128)
      await Promise.all(due.map((document) => advanceDue(settlement, document, 'req_1')))
      await pulling
    },
  }
}

t.test(
  'after an outage in which the breaker opened and closed, a win waits as long as its age allows',
  async (t) => {
    const ok = { status: 200, body: { status: 'OK', currency: 'USD', transactionId: 'w' } }
    const wallet = { creditsWork: false, busyFor: ['win-7'] }
    const outage = createOutage(({ operation, id }) => {
      if (operation !== 'credit') return ok
      if (!wallet.creditsWork) return { status: 503, body: {} }
      if (!wallet.busyFor.includes(id)) return ok
      wallet.busyFor = []
      return { status: 429, body: {} }
    })
    const tooFar: object[] = []
    const look = async () => {
      const ageMs = outage.ageMs()
      for (const { transactionId, createdAt, dueAt } of await outage.owed()) {
        const waitMs = Number(dueAt) - createdAt.getTime() - ageMs
        if (waitMs > nextTryWithinMs(ageMs, unscaled)) tooFar.push({ transactionId, ageMs, waitMs })
      }
    }

    for (let win = 1; win <= 12; win++)
      await outage.place({ type: 'WIN', transactionId: `win-${win}`, freeBet: true })
    t.ok(outage.breakerOpen(), 'twelve credits that fail open the breaker')
    for (let ageMs = 5 * s; ageMs <= 5 * min; ageMs += 5 * s) {
      await outage.passTo(ageMs)
      // The wallet takes a stake: the breaker closes, and the waiting credits are tried and fail.
      await outage.place({ type: 'BET' })
      await look()
    }
    t.ok(outage.pulls() >= 25, `the breaker closed ${outage.pulls()} times`)
    t.equal((await outage.owed()).length, 12)
    t.same(tooFar, [], 'no try is further away than the retry schedule says')

    wallet.creditsWork = true
    // Without stakes, only the retry schedule finds out that the wallet answers.
    for (let looks = 0; looks < 20; looks++) {
      const waiting = await outage.owed()
      if (waiting.length === 0) break
      const nextMs = Math.min(...waiting.map(({ createdAt, dueAt }) => Number(dueAt) - createdAt.getTime()))
      await outage.passTo(Math.max(outage.ageMs() + 1, nextMs))
    }
    t.same(await outage.owed(), [])
    t.same(wallet.busyFor, [], 'one was told once that it came too often')
    t.ok(outage.ageMs() <= 49 * min, `all are paid ${outage.ageMs() / min} min after they were owed`)
  },
)
