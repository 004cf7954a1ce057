import t from 'tap'
import type { LastNonce } from '../../src/storage/round-streams.ts'
import { newRound } from '../../src/rules/new-round.ts'
import { openIntent } from '../../src/actions/open-intent.ts'
import type { WalletClient } from '../../src/clients/wallet.ts'
import { PlayMemory, type PlayContext } from '../../src/context.ts'
import type { RoundsStore } from '../../src/storage/rounds-store.ts'
import { partsOf } from '../fixtures/parts-of.ts'
import type { StoredRound } from '../../src/storage/round-document.ts'
import { streamed } from '../fixtures/stored-rounds.ts'

const now = new Date()
const scope = { operatorId: '00000000-0000-4000-8000-0000000000aa', environment: 'SANDBOX' } as const
const context = { requestId: 'req', deadlineAtMs: now.getTime() + 15_000 }
const round = newRound({
  session: {
    ...{ _id: 'ses', ...scope, playerId: 'p', game: 'dice' },
    ...{ currency: 'USD', brandId: null, expiresAt: now },
  },
  ...{ driver: 'game', gameId: 'g', clientSeed: null, bet: null, stake: 100n, maxPayout: 200n, now },
  commitment: { nonce: 1, sealedSeed: '', serverSeedHash: '' },
  ...{ grantId: null, requestHash: '', clientTransactionId: 'mine' },
  newId: (prefix) => prefix,
  newUuid: () => 'uuid',
})
const stored: StoredRound = { round, version: 1, dueAt: null, checks: 0, claims: 0, ...streamed(round) }
const commitment = { sealedSeed: '', serverSeedHash: '', createdAt: now }
const noRounds = {
  last: async () => ({ nonce: 0, unfinished: false, next: null }),
  findUnfinished: async () => null,
}

/** Makes a request over these tables; answers its result and the nonces that it has tried. */
function ask(rounds: Partial<RoundsStore>, open: () => Promise<StoredRound | null>) {
  const nonces: number[] = []
  const play = partsOf<PlayContext>({
    memory: new PlayMemory(),
    rounds: partsOf<RoundsStore>({ ...noRounds, ...rounds, insert: open }),
    wallet: partsOf<WalletClient>({ show: async () => null }),
    scaleMs: (ms) => ms,
  })
  const make = async ({ nonce }: LastNonce) => {
    nonces.push(nonce + 1)
    return { round: { ...round, nonce: nonce + 1 }, committedAt: now, next: commitment }
  }
  const plan = async () => ({ last: { nonce: 0, unfinished: false, next: null }, make })
  const request = { sequence: 'sequence', findEarlier: async () => null, isOwn: () => false }
  return { nonces, opened: openIntent(play, request, plan, context) }
}

t.test('a request that loses every time is to be repeated, and has stored nothing', async (t) => {
  let nonce = 0
  const last = async () => ({ nonce: ++nonce, unfinished: false, next: null })
  const { nonces, opened } = ask({ last }, async () => null)
  await t.rejects(opened, { code: 'SERVICE_UNAVAILABLE' })
  t.strictSame(nonces, [1, 2, 3, 4, 5, 6, 7, 8], 'always the nonce after the round that is over')
})

t.test('a round that is gone before it was read leaves its nonce', async (t) => {
  const lasts = [
    { nonce: 1, unfinished: true, next: null },
    { nonce: 1, unfinished: true, next: null },
    { nonce: 0, unfinished: false, next: null },
  ]
  let tries = 0
  const { nonces, opened } = ask(
    { last: async () => lasts.shift() ?? { nonce: 9, unfinished: false, next: null } },
    async () => (++tries === 1 ? null : stored),
  )
  t.equal((await opened).kind, 'opened')
  t.strictSame(nonces, [1, 1])
})
