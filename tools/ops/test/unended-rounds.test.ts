import type { Bus } from '@pitboss/bus/connect-bus'
import t from 'tap'
import { unendedRounds } from '../src/unended-rounds.ts'

t.test('a round whose stake is settled while the rounds are read is among them, once', async (t) => {
  for (const opensAfter of [0, 1, 2]) {
    let asked = 0
    const call = async (_: unknown, { status }: { status: string }) => {
      const now = asked++ < opensAfter ? 'PENDING' : 'OPEN'
      const round = { round_id: 'rnd_1', player_id: 'p', game: 'mines' }
      return { data: now === status ? [round] : [], next: null }
    }
    const bus = { call } as unknown as Pick<Bus, 'call'>
    const found: string[] = []
    const scope = { operatorId: 'op', environment: 'SANDBOX' } as const
    for await (const { round_id: id } of unendedRounds(bus, scope)) found.push(id)
    t.strictSame(found, ['rnd_1'], `it opens after ${opensAfter} of the two reads`)
  }
})
