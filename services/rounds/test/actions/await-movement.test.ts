import t from 'tap'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { awaitMovement } from '../../src/actions/place-stake.ts'
import type { WalletClient } from '../../src/clients/wallet.ts'
import { PlayMemory, type PlayContext } from '../../src/context.ts'
import type { RoundsStore } from '../../src/storage/rounds-store.ts'
import { partsOf } from '../fixtures/parts-of.ts'
import { newRound } from '../../src/rules/new-round.ts'
import { movementsOf } from '../../src/rules/round.ts'
import { streamed } from '../fixtures/stored-rounds.ts'

const now = new Date(1_700_000_000_000)
const round = newRound({
  session: {
    ...{ _id: 'ses', operatorId: '00000000-0000-4000-8000-0000000000aa', environment: 'SANDBOX' },
    ...{ playerId: 'p', game: 'dice', currency: 'USD', brandId: null, expiresAt: now },
  },
  ...{ driver: 'game', gameId: 'g', clientSeed: null, bet: null, stake: 100n, maxPayout: 200n, now },
  commitment: { nonce: 1, sealedSeed: '', serverSeedHash: '' },
  ...{ grantId: null, requestHash: '', clientTransactionId: 'mine' },
  newId: (prefix) => prefix,
  newUuid: () => 'uuid',
})
const shown = {
  answered: false,
  requestHash: '',
  driver: 'game',
  outcome: { kind: 'pending', code: 'WALLET_TIMEOUT', rollbackOwed: false },
  movement: {
    type: 'BET',
    status: 'PENDING',
    environment: 'SANDBOX',
    ...{ transaction_id: 'mine', reference: 'txn_1', amount: '1.00' },
    ...{ currency: 'USD', player_id: 'p', session_id: 'ses', round_id: round.id, game: 'dice' },
    ...{ free_bet: false, reference_transaction_id: null, wallet_transaction_id: null, wallet_code: null },
    ...{ balance_after: null, created_at: '', updated_at: '' },
  },
} as const

/** A wallet-bridge whose movement ends after `pendingMs` of a time that only waiting makes pass. */
function world(pendingMs: number, pass: () => Promise<void> = async () => undefined) {
  let nowMs = now.getTime()
  let asked = 0
  const play = partsOf<PlayContext>({
    memory: new PlayMemory(),
    wallet: partsOf<WalletClient>({
      async show() {
        asked += 1
        return { ...shown, answered: nowMs - now.getTime() >= pendingMs }
      },
    }),
    rounds: partsOf<RoundsStore>({ find: async () => null, confirmPrimary: async () => undefined }),
    clock: { now: () => new Date(nowMs) },
    async wait(ms) {
      await pass()
      nowMs += ms
    },
  })
  return {
    join: (id: string, call: HandlerContext) => awaitMovement(play, round, id, call),
    asked: () => asked,
  }
}

const context = { requestId: 'req', deadlineAtMs: now.getTime() + 15_000 }

await t.test('2,100 repeats of one movement wait together', async (t) => {
  const alone = world(3000)
  await alone.join('mine', context)
  const { join, asked } = world(3000)
  const all = await Promise.all(Array.from({ length: 2100 }, () => join('mine', context)))
  t.equal(asked(), alone.asked(), 'one poll for all of them')
  t.ok(all.every(({ answered }) => answered))
  await join('mine', context)
  t.equal(asked(), alone.asked() + 1, 'who comes later asks anew')
})

await t.test('a repeat that is not to be waited for is answered as the movement stands', async (t) => {
  const { join, asked } = world(3000)
  const waiting = join('mine', context)
  t.match(await join('mine', { ...context, atOnce: true }), { answered: false })
  t.match(await waiting, { answered: true })
  t.ok(asked() > 2)
})

await t.test('repeats that are not to be waited for ask nothing while others wait', async (t) => {
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>()
  const { promise: waits, resolve: begun } = Promise.withResolvers<void>()
  const { join, asked } = world(3000, () => {
    begun()
    return held
  })
  const waiting = join('mine', context)
  await waits
  t.equal(asked(), 1)
  const atOnce = { ...context, atOnce: true }
  const answers = await Promise.all(Array.from({ length: 2100 }, () => join('mine', atOnce)))
  t.equal(asked(), 1, 'they get what the others saw last')
  t.ok(answers.every(({ answered, movement }) => !answered && movement.status === 'PENDING'))
  await join('another', atOnce)
  t.equal(asked(), 2, 'that of another movement asks')
  goOn()
  t.match(await waiting, { answered: true })
  const before = asked()
  t.match(await join('mine', atOnce), { answered: true }, 'and afterwards it is asked anew')
  t.equal(asked(), before + 1)
})

await t.test('repeats that come together while nobody waits ask once', async (t) => {
  const { join, asked } = world(3000)
  const atOnce = { ...context, atOnce: true }
  await Promise.all(Array.from({ length: 2100 }, () => join('mine', atOnce)))
  t.equal(asked(), 1)
  await join('mine', atOnce)
  t.equal(asked(), 2, 'who comes later asks anew')
})

await t.test('an intent that only a replaced primary still shows is no conflict', async (t) => {
  const [stake] = movementsOf(round)
  if (stake === undefined) throw new Error('the round has a stake')
  const { transactionId } = stake
  let isConfirmed = false
  const joined = (isTakenBack: boolean) => {
    const play = partsOf<PlayContext>({
      memory: new PlayMemory(),
      wallet: partsOf<WalletClient>({
        show: async () => ({ ...shown, movement: { ...shown.movement, round_id: 'another' } }),
      }),
      rounds: partsOf<RoundsStore>({
        find: async () =>
          isConfirmed && isTakenBack
            ? null
            : { round, version: 1, dueAt: null, checks: 0, claims: 0, ...streamed(round) },
        async confirmPrimary() {
          isConfirmed = true
        },
      }),
      clock: { now: () => now },
    })
    return awaitMovement(play, round, transactionId, context)
  }
  await t.rejects(joined(true), { code: 'SERVICE_UNAVAILABLE' }, 'its id is free again')
  await t.rejects(joined(false), { code: 'TRANSACTION_CONFLICT' })
})
