import { newId } from '@pitboss/runtime/new-id'
import { parseKeyring } from '@pitboss/storage/keyring'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { exactReads } from '@pitboss/testing/exact-reads'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { randomBytes } from 'node:crypto'
import { readEntries } from '@pitboss/testing/stored-entries'
import t from 'tap'
import { advanceDue } from '../src/actions/advance-due.ts'
import type { Standing } from '../src/clients/ask-standing.ts'
import { openSettlement } from '../src/context.ts'
import { documentOf, initialState } from '../src/records/new-movement.ts'
import { moneyStream } from '../src/storage/round-money.ts'
import { newScope, silentLogger, specOf } from './fixtures/bridge.ts'
import { createWallets } from '../src/storage/wallet-document.ts'
import { openTestMoney } from './fixtures/test-money.ts'

const s = 1000
const db = await openTestDatabase(t)
const { movements, unfinished } = await openTestMoney(t, db)
const keyring = parseKeyring(`k1:${randomBytes(32).toString('base64')}`)
const wallets = createWallets(db, createSecretBox(keyring), exactReads)

/** A stake whose only call was lost an hour ago, on a clock of its own; rounds answers as `rounds` says. */
async function loseStake(rounds: { standing: Standing | null }) {
  const startMs = Date.UTC(2026, 10, 22, 12)
  let nowMs = startMs
  let asked = 0
  const scope = newScope()
  const at = new Date(startMs - 3600 * s)
  const state = { ...initialState('BET', at), tries: 1, unknownTries: 1 }
  const stake = documentOf({ scope, spec: specOf(), reference: newId('txn'), state })
  await movements.insert(stake)
  const unused = async () => Promise.reject(new Error('no wallet is called'))
  const settlement = openSettlement({
    ...{ movements, due: unfinished, newId, logger: silentLogger, scaleMs: (ms: number) => ms },
    wallets,
    client: { call: unused, close: async () => undefined },
    clock: { now: () => new Date(nowMs) },
    async askStanding() {
      asked += 1
      return rounds.standing
    },
    audit: { entry: () => sampleAuditEntry() },
    metrics: { callEnded: () => undefined, repeatedAtFirstTry: () => undefined },
    wake: () => undefined,
  })
  return {
    asked: () => asked,
    entries: async () => (await readEntries(db, moneyStream(stake))).length,
    found: () => movements.findById(stake._id),
    /** Does what is due of the stake after so many milliseconds more. */
    async pass(ms: number) {
      nowMs += ms
      const due = await unfinished.ofWallet(stake.walletKey, new Date(nowMs), 128)
      for (const document of due) await advanceDue(settlement, document, 'req_1')
    },
  }
}

t.test('a stake that waits for the word of rounds adds nothing to its journal', async (t) => {
  const rounds: { standing: Standing | null } = { standing: null }
  const stake = await loseStake(rounds)
  await stake.pass(0)
  t.equal(stake.asked(), 1)
  const before = await stake.entries()
  await stake.pass(4 * s)
  t.equal(stake.asked(), 1, 'rounds is asked again after five seconds')
  for (let times = 0; times < 20; times++) await stake.pass(5 * s)
  t.equal(stake.asked(), 21)
  t.equal(await stake.entries(), before)

  rounds.standing = 'no-round'
  await stake.pass(5 * s)
  t.match(await stake.found(), { inDoubt: true, doubt: 'no-round' })
  for (let times = 0; times < 20; times++) await stake.pass(5 * s)
  t.equal(await stake.entries(), before + 1, 'a doubt is one entry')

  rounds.standing = 'events-missing'
  await stake.pass(5 * s)
  t.match(await stake.found(), { inDoubt: true, doubt: 'events-missing' })
  rounds.standing = 'not-taken'
  const asked = stake.asked()
  await stake.pass(59 * s)
  t.equal(stake.asked(), asked)
  await stake.pass(s)
  t.match(await stake.found(), { reversal: { type: 'ROLLBACK' } }, 'its rollback is owed')
})
