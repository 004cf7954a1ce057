import { ServiceError } from '@pitboss/errors/service-error'
import { pino } from 'pino'
import t from 'tap'
import type { StoredRound } from '../../src/storage/round-document.ts'
import { createRecoverRound } from '../../src/actions/recover-round.ts'
import { newTestId as newId, pendingAt, pendingRound } from '../fixtures/pending-round.ts'

const now = pendingAt

/** Recovers a round; answers the steps that were done, in order. */
async function recover({
  claimed,
  failure,
  stored = pendingRound(),
  known = [],
  leftFrom = null,
}: {
  claimed: boolean
  failure?: Error
  stored?: StoredRound
  known?: string[]
  leftFrom?: Date | null
}): Promise<string[]> {
  const done: string[] = []
  const recoverRound = createRecoverRound({
    rounds: {
      claim: async (stored, until) => {
        done.push(`claimed for ${until.getTime() - now.getTime()} ms`)
        return claimed ? { ...stored, dueAt: until, checks: stored.checks + 1, claims: 1 } : null
      },
      postpone: async (_stored, until) => {
        done.push(`postponed for ${until.getTime() - now.getTime()} ms`)
      },
    },
    actor: {
      send: async (stored, { type }) => {
        done.push(type)
        return stored
      },
    },
    settle: async (stored, { context, onKnown }) => {
      for (const id of known) onKnown?.(id)
      done.push(`settled within ${(context?.deadlineAtMs ?? Infinity) - now.getTime()} ms`)
      if (failure !== undefined) throw failure
      return stored
    },
    clock: { now: () => now },
    newId,
    scaleMs: (ms) => ms,
    logger: pino({ level: 'silent' }),
    leftFrom,
  })
  await recoverRound(stored)
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

t.test('a round of which wallet-bridge has all that it owes is looked at once a minute', async (t) => {
  const { round } = pendingRound()
  const win = { transactionId: 'win_1', minor: 1n, requestHash: '', final: true, state: 'OWED' } as const
  const settling = { ...round, status: 'SETTLING', stakes: [], wins: [win] } as const
  const looked = async (checks: number, known: string[]) =>
    (await recover({ claimed: true, stored: pendingRound({ round: settling, checks }), known })).filter(
      (step) => !step.startsWith('settled'),
    )
  t.same(await looked(9, ['win_1']), ['claimed for 15000 ms', 'postponed for 60000 ms'])
  t.same(await looked(9, []), ['claimed for 15000 ms'], 'wallet-bridge did not answer')
  t.same(await looked(2, ['win_1']), ['claimed for 4000 ms'], 'the first looks are close together')
})

t.test('after a restore no round counts as left before the time that is set', async (t) => {
  const { round } = pendingRound()
  const hourMs = 3_600_000
  const idle = { lastActionAt: new Date(now.getTime() - hourMs), sittingEndsAt: now }
  const open = { ...round, ...idle, driver: 'game', status: 'OPEN', stakes: [] } as const
  const looked = (leftFrom: Date | null) =>
    recover({ claimed: true, stored: pendingRound({ round: open }), leftFrom })
  t.same(await looked(new Date(now.getTime() + 1)), ['claimed for 4000 ms', 'settled within 2000 ms'])
  const ended = ['claimed for 4000 ms', 'abandon', 'settled within 2000 ms']
  t.same(await looked(now), ended)
  t.same(await looked(null), ended)
})
