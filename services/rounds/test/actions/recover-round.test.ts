import { ServiceError } from '@pitboss/errors/service-error'
import { pino } from 'pino'
import t from 'tap'
import { newRound } from '../../src/rules/new-round.ts'
import type { StoredRound } from '../../src/storage/round-document.ts'
import { createRecoverRound } from '../../src/actions/recover-round.ts'

const now = new Date('2026-11-20T09:30:00.000Z')
let ids = 0
const newId = (prefix: string) => `${prefix}_${++ids}`

function pendingRound(): StoredRound {
  const round = newRound({
    session: {
      _id: 'ses_1',
      operatorId: 'op',
      environment: 'SANDBOX',
      playerId: 'p',
      game: 'dice',
      currency: 'USD',
      brandId: null,
      expiresAt: new Date(now.getTime() + 3_600_000),
    },
    driver: 'operator',
    gameId: 'game',
    commitment: { nonce: 1, sealedSeed: '', serverSeedHash: '' },
    clientSeed: null,
    bet: null,
    stake: 100n,
    maxPayout: 1000n,
    grantId: null,
    settleLosses: 'none',
    requestHash: 'h',
    clientTransactionId: null,
    now,
    newId,
    newUuid: () => 'uuid',
  })
  return { round, version: 1, dueAt: now, checks: 0, claims: 0, outbox: [] }
}

/** Recovers a round; answers the steps that were done, in order. */
async function recover({ claimed, failure }: { claimed: boolean; failure?: Error }): Promise<string[]> {
  const done: string[] = []
  const recoverRound = createRecoverRound({
    rounds: {
      claim: async (stored, until) => {
        done.push(`claimed for ${until.getTime() - now.getTime()} ms`)
        return claimed ? { ...stored, dueAt: until, checks: stored.checks + 1, claims: 1 } : null
      },
    },
    actor: { send: async (stored) => stored },
    settle: async (stored, { context }) => {
      done.push(`settled within ${(context?.deadlineAtMs ?? Infinity) - now.getTime()} ms`)
      if (failure !== undefined) throw failure
      return stored
    },
    clock: { now: () => now },
    newId,
    scaleMs: (ms) => ms,
    logger: pino({ level: 'silent' }),
  })
  await recoverRound(pendingRound())
  return done
}

t.test(
  'a round is claimed before anything is done about it, and a slow wallet is not waited for',
  async (t) => {
    t.same(await recover({ claimed: true }), ['claimed for 1000 ms', 'settled within 2000 ms'])
  },
)

t.test('a round that another worker has claimed is left to that worker', async (t) => {
  t.same(await recover({ claimed: false }), ['claimed for 1000 ms'])
})

t.test('a round that cannot be settled stays due, and recovery does not reject', async (t) => {
  for (const failure of [new ServiceError('SERVICE_UNAVAILABLE'), new Error('its game is gone')]) {
    await t.resolves(recover({ claimed: true, failure }))
  }
})
