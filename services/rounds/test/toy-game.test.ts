import * as endpoints from '@pitboss/contracts/endpoints/sessions'
import type { Game } from '@pitboss/fairness/games/game'
import { games } from '@pitboss/fairness/games/registry'
import { createDrawSource } from '@pitboss/fairness/fair-v1'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { multiplyRational, rational } from '@pitboss/money/rational'
import t from 'tap'
import { createCatalogue } from '../src/rules/catalogue.ts'
import { startRig } from './fixtures/rounds-rig.ts'

/** Heads or tails: not shipped, it shows what a further game takes. */
const coin: Game = {
  slug: 'coin',
  name: 'Coin',
  version: '1',
  stepwise: false,
  rtp: rational(95n, 100n),
  betSchema: { type: 'object', properties: { side: { enum: ['heads', 'tails'] } }, required: ['side'] },
  outcomeSchema: { type: 'object' },
  parseBet(value) {
    const side = typeof value === 'object' && value !== null && 'side' in value ? value.side : null
    if (side !== 'heads' && side !== 'tails') {
      return { ok: false, issues: [{ path: 'bet.side', message: 'must be "heads" or "tails"' }] }
    }
    const leastWinMultiplier = (rtp: { n: bigint; d: bigint }) => multiplyRational(rtp, rational(2n))
    const isAction = (_action: unknown): _action is number => false
    return {
      ok: true,
      wager: {
        bet: { side },
        leastWinMultiplier,
        winMultipliers: (rtp) => [leastWinMultiplier(rtp)],
        isAction,
        play({ seeds, rtp }) {
          const source = createDrawSource(seeds)
          const fell = source.draw(2) === 0 ? 'heads' : 'tails'
          const won = fell === side
          const multiplier = won ? leastWinMultiplier(rtp) : rational(0n)
          const outcome = { side, fell, won }
          return { over: true, actions: [], won, multiplier, outcome, endedBy: 'draw', steps: source.steps }
        },
      },
    }
  },
  shapes() {
    const parsed = coin.parseBet({ side: 'heads' })
    return parsed.ok ? [parsed.wager] : []
  },
  readOutcome: (value) =>
    typeof value === 'object' && value !== null && 'side' in value
      ? { bet: { side: value.side }, actions: [] }
      : null,
}

t.test('a fourth game is one value and one line of registration', async (t) => {
  const registered = [...games, coin]
  const rig = await startRig(t, { catalogue: createCatalogue(registered) })
  const session = await rig.openSession({ game: 'coin' })
  const round = await rig.play(session, { bet: { side: 'heads' } })
  t.equal(round.status, 'SETTLED')
  t.equal(round.payout, round.outcome?.won === true ? '1.90' : '0.00')
  t.ok(verifyRound(round, { games: registered }).valid, 'verified with the RTP that it was played with')
  const shown = await rig.bus.call(endpoints.getGame.call, {
    caller: rig.caller(),
    params: { slug: 'coin' },
    query: {},
    body: undefined,
  })
  t.equal(shown.body.rtp, '0.9500', 'and the catalogue shows it')
  t.equal(shown.body.limits[0]?.rtp_at_min_stake, '0.9500', 'and what the least stake returns')
})
