import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { dice } from '@pitboss/fairness/games/dice'
import { seedHash } from '@pitboss/fairness/server-seed'
import { formatAmount } from '@pitboss/money/amount'
import { formatMultiplier, multiplyFloor } from '@pitboss/money/rational'
import t from 'tap'
import { openCli } from '../fixtures/run-cli.ts'

const runCli = openCli(t)

/** A finished round of dice at an even bet, drawn from a seed that the nonce decides. */
function roundOf(nonce: number) {
  const serverSeed = createHash('sha256').update(`round ${nonce}`).digest('hex')
  const bet = { target: '50.49', direction: 'over' }
  const parsed = dice.parseBet(bet)
  if (!parsed.ok) throw new Error('the bet is valid')
  const played = parsed.wager.play({
    ...{ seeds: { serverSeed, clientSeed: null, nonce }, rtp: dice.rtp, actions: [], cashOut: false },
    payoutFits: () => true,
  })
  if (!played.over) throw new Error('a round of dice is over at once')
  const { multiplier, outcome } = played
  return {
    ...{
      round_id: `rnd_${String(nonce).padStart(26, '0')}`,
      game: 'dice',
      status: 'SETTLED',
      driver: 'game',
      bet,
      outcome,
    },
    ...{ stake: '1.00', payout: formatAmount(multiplyFloor(100n, multiplier), 'USD'), currency: 'USD' },
    multiplier: formatMultiplier(multiplier),
    fairness: {
      ...{ algorithm: 'fair-v1', server_seed_hash: seedHash(serverSeed), server_seed: serverSeed },
      ...{ client_seed: null, nonce },
    },
  }
}
const rounds = Array.from({ length: 300 }, (_, at) => roundOf(at + 1))
const lines = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join('\n')
const envelope = (data: unknown) => ({ id: 'evt_1', type: 'round.completed', data })

await t.test('fair rounds raise no alarm, in whatever form they come, each counted once', async (t) => {
  const dir = t.testdir({
    'events.jsonl': lines([
      ...rounds.slice(0, 100),
      ...rounds.slice(100, 200).map(envelope),
      ...rounds.slice(200, 250).map((round) => ({ verified: true, event: JSON.stringify(envelope(round)) })),
      { data: rounds.slice(250), next_cursor: null },
      ...rounds.slice(0, 50),
      { id: 'evt_2', type: 'transaction.bet', data: {} },
      'no round',
    ]),
  })
  const svg = join(dir, 'returns.svg')
  const { code, out } = await runCli(['returns', '--events', join(dir, 'events.jsonl'), '--svg', svg])
  t.equal(code, 0, out)
  t.match(out, /✓ dice, chance 99\/200 {2}300 trials {2}return 99\.00 %, seen \d+\.\d\d %/)
  t.match(out, /✓ dice, draws {2}300 trials/)
  t.match(out, /300 rounds, 0 alarms, 0 that do not verify/)
  t.match(await readFile(svg, 'utf8'), /dice, chance 99\/200: 300 trials[\s\S]*<polygon points="[\d]/)
})

await t.test(
  'losses that are left out are an alarm, and a payout that is changed does not verify',
  async (t) => {
    const won = rounds.filter(({ outcome }) => outcome.won === true)
    const dir = t.testdir({
      'won.jsonl': lines(won),
      'lie.jsonl': lines(rounds.map((round, at) => (at === 7 ? { ...round, payout: '9.00' } : round))),
    })
    const alarm = await runCli(['returns', '--events', join(dir, 'won.jsonl'), '--json'])
    t.equal(alarm.code, 1)
    const report = JSON.parse(alarm.out)
    t.match(report, { rounds: won.length, unverified: [] })
    t.match(
      report.streams.find(({ shape }: { shape: string }) => shape === 'chance 99/200'),
      { alarmedAt: Number },
    )
    const lie = await runCli(['returns', '--events', join(dir, 'lie.jsonl')])
    t.match(lie, { code: 1, out: /rnd_0+8 does not verify[\s\S]*1 that do not verify/ })
  },
)

await t.test('a list without a finished round ends with 2 and says what to give', async (t) => {
  const dir = t.testdir({ 'events.jsonl': lines([{ id: 'evt_1', type: 'game.session.created', data: {} }]) })
  const { code, err } = await runCli(['returns', '--events', join(dir, 'events.jsonl')])
  t.equal(code, 2)
  t.match(err, /has no finished round: give events/)
})
