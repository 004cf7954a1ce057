import { ServiceError } from '@pitboss/errors/service-error'
import { pino } from 'pino'
import t from 'tap'
import { createCatalogue } from '../../src/rules/catalogue.ts'
import type { StoredRound } from '../../src/storage/round-document.ts'
import { recoverRound } from '../../src/actions/recover-round.ts'
import type { Placement, WalletClient } from '../../src/clients/wallet.ts'
import { PlayMemory, type PlayContext } from '../../src/context.ts'
import type { RoundsStore } from '../../src/storage/rounds-store.ts'
import { partsOf } from '../fixtures/parts-of.ts'
import { newTestId as newId, pendingAt, pendingRound } from '../fixtures/pending-round.ts'

const now = pendingAt

/** wallet-bridge has a movement, and its wallet has not answered. */
const pending = {
  kind: 'placed',
  placed: {
    created: false,
    outcome: { kind: 'pending', code: 'WALLET_TIMEOUT', rollbackOwed: false },
    movement: {
      ...{ type: 'WIN', status: 'PENDING', environment: 'SANDBOX', transaction_id: 'win_1' },
      ...{ reference: 'txn_1', amount: '0.01', currency: 'USD', player_id: 'p', session_id: 'ses_1' },
      ...{ round_id: 'rnd_1', game: 'dice', free_bet: false, reference_transaction_id: null },
      ...{ wallet_transaction_id: null, wallet_code: null, balance_after: null },
      ...{ created_at: '', updated_at: '' },
    },
  },
} as const satisfies Placement

/** Recovers a round; answers the steps that were done, in order. */
async function recover({
  claimed,
  failure,
  stored = pendingRound(),
  isKnown = false,
  leftFrom = null,
  hasAskerExited = false,
}: {
  claimed: boolean
  failure?: Error
  stored?: StoredRound
  /** Whether wallet-bridge has what the round owes. */
  isKnown?: boolean
  leftFrom?: Date | null
  /** Whether the process is known to have ended that asked for the stake. */
  hasAskerExited?: boolean
}): Promise<string[]> {
  const done: string[] = []
  const context = partsOf<PlayContext>({
    rounds: partsOf<RoundsStore>({
      claim: async (stored, until) => {
        done.push(`claimed for ${until.getTime() - now.getTime()} ms`)
        return claimed ? { ...stored, dueAt: until, checks: stored.checks + 1, claims: 1 } : null
      },
      hasAskerExited: async () => hasAskerExited,
      postpone: async (_stored, until) => {
        done.push(`postponed for ${until.getTime() - now.getTime()} ms`)
      },
    }),
    rules(_round, { type }) {
      done.push(type)
      return { kind: 'unchanged' }
    },
    wallet: partsOf<WalletClient>({
      async show(_scope, _id, call) {
        done.push(`asked within ${(call?.deadlineAtMs ?? Infinity) - now.getTime()} ms`)
        if (failure !== undefined) throw failure
        return null
      },
      async void(_scope, { stake }) {
        done.push('voided')
        const { transactionId: transaction_id, type } = stake
        const voided = { ...pending.placed.movement, type, transaction_id, status: 'ROLLED_BACK' } as const
        return { stake: voided, rollback: null, outcome: { kind: 'done' } }
      },
      place: async () =>
        isKnown ? pending : { kind: 'unknown', error: new ServiceError('SERVICE_UNAVAILABLE') },
    }),
    catalogue: createCatalogue(),
    memory: new PlayMemory(),
    clock: { now: () => now },
    newId,
    scaleMs: (ms) => ms,
    logger: pino({ level: 'silent' }),
    leftFrom,
  })
  await recoverRound(context, stored)
  return done
}

t.test(
  'a round is claimed before anything is done about it, and a slow wallet is not waited for',
  async (t) => {
    t.same(await recover({ claimed: true }), ['claimed for 1000 ms', 'asked within 2000 ms'])
  },
)

t.test('a stake that wallet-bridge does not know is voided once nobody can be asking for it', async (t) => {
  const young = (hasAskerExited: boolean) => recover({ claimed: true, hasAskerExited })
  const waits = ['claimed for 1000 ms', 'asked within 2000 ms']
  t.same(await young(false), waits, 'a request may be at work')
  t.same((await young(true)).slice(0, 3), [...waits, 'voided'], 'its process has exited')
  const { round } = pendingRound()
  const old = { ...round, updatedAt: new Date(now.getTime() - 4000) }
  const stored = pendingRound({ round: old })
  t.same((await recover({ claimed: true, stored })).slice(0, 3), [...waits, 'voided'])
})

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
  const looked = (checks: number, isKnown: boolean) =>
    recover({ claimed: true, stored: pendingRound({ round: settling, checks }), isKnown })
  t.same(await looked(9, true), ['claimed for 15000 ms', 'postponed for 60000 ms'])
  t.same(await looked(9, false), ['claimed for 15000 ms'], 'wallet-bridge did not answer')
  t.same(await looked(2, true), ['claimed for 4000 ms'], 'the first looks are close together')
})

t.test('after a restore no round counts as left before the time that is set', async (t) => {
  const { round } = pendingRound()
  const hourMs = 3_600_000
  const idle = { lastActionAt: new Date(now.getTime() - hourMs), sittingEndsAt: now }
  const open = { ...round, ...idle, driver: 'game', status: 'OPEN', stakes: [] } as const
  const looked = (leftFrom: Date | null) =>
    recover({ claimed: true, stored: pendingRound({ round: open }), leftFrom })
  t.same(await looked(new Date(now.getTime() + 1)), ['claimed for 4000 ms'])
  const ended = ['claimed for 4000 ms', 'abandon']
  t.same(await looked(now), ended)
  t.same(await looked(null), ended)
})
