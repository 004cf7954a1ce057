import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { createCommitAhead } from '../../src/actions/commit-ahead.ts'
import { newRound } from '../../src/rules/new-round.ts'
import { sequenceOf } from '../../src/storage/round-document.ts'

const now = new Date()
const scope = { operatorId: '00000000-0000-4000-8000-0000000000aa', environment: 'SANDBOX' } as const
const open = newRound({
  session: {
    ...{ _id: 'ses', ...scope, playerId: 'p', game: 'dice' },
    ...{ currency: 'USD', brandId: null, expiresAt: now },
  },
  ...{ driver: 'game', gameId: 'g', clientSeed: null, bet: null, stake: 100n, maxPayout: 200n, now },
  commitment: { nonce: 6, sealedSeed: '', serverSeedHash: '' },
  ...{ grantId: null, settleLosses: 'none', requestHash: '', clientTransactionId: null },
  newId: (prefix) => prefix,
  newUuid: () => 'uuid',
})
const over = { ...open, status: 'SETTLED' } as const

function startAhead(failures = 0) {
  const made: [string, number][] = []
  const warned: string[] = []
  let left = failures
  const ahead = createCommitAhead({
    commitments: {
      async ensure(sequence: string, nonce: number) {
        if (left-- > 0) throw new Error('no database')
        made.push([sequence, nonce])
        return { nonce, sealedSeed: '', serverSeedHash: '' }
      },
    } as unknown as Parameters<typeof createCommitAhead>[0]['commitments'],
    clock: { now: () => now },
    logger: { warn: (_line: object, event: string) => warned.push(event) } as unknown as Parameters<
      typeof createCommitAhead
    >[0]['logger'],
  })
  return { ahead, made, warned }
}

t.test('the end of a round makes the commitment of the next nonce, other changes none', async (t) => {
  const { ahead, made } = startAhead()
  ahead.after(open)
  ahead.after(over)
  t.same(made, [], 'not in the way of the answer')
  await waitFor(() => made.length > 0)
  t.same(made, [[sequenceOf(over), 7]])
  await ahead.stop()
})

t.test('a failure is logged, and the next end makes its own', async (t) => {
  const { ahead, made, warned } = startAhead(1)
  ahead.after(over)
  await waitFor(() => warned.length > 0)
  t.same(warned, ['commitment.left-to-the-stake'])
  ahead.after({ ...over, nonce: 7 })
  await waitFor(() => made.length > 0)
  t.same(made, [[sequenceOf(over), 8]])
  await ahead.stop()
})

t.test('what waits at the end is left to the next stake', async (t) => {
  const { ahead, made } = startAhead()
  ahead.after(over)
  await ahead.stop()
  t.same(made, [])
})
