import fc from 'fast-check'
import t from 'tap'
import { verifyRound } from '../src/verify-round.ts'

const SERVER_SEED = '18e93f4a7b5b58d2569765766d1b6c3296bbd8430d6f20249044d72f14720159'
const fairness = {
  algorithm: 'fair-v1',
  server_seed_hash: '92a94e8c23510695d92e123725ecd728e54bd251c0ec4b4c422bd16aa34567f9',
  client_seed: 'bb62964774',
  nonce: 1,
  server_seed: SERVER_SEED,
}
const common = {
  player_id: 'p',
  stake: '10.00',
  currency: 'USD',
  free_bet: false,
  status: 'SETTLED',
  fairness,
}
const diceBet = { target: '50.00', direction: 'over' }
const dice = {
  ...{ ...common, game: 'dice', driver: 'game', bet: diceBet, payout: '19.80', multiplier: '1.9803' },
  outcome: { roll: '77.17', ...diceBet, won: true },
}
const diceLost = {
  ...{ ...dice, bet: { target: '50.00', direction: 'under' }, payout: '0.00', multiplier: '0.0000' },
  outcome: { roll: '77.17', target: '50.00', direction: 'under', won: false },
}
const mines = {
  ...{ ...common, game: 'mines', driver: 'game', bet: { mines: 3 }, payout: '12.85', multiplier: '1.2857' },
  outcome: { tiles_opened: [0, 1], bomb_positions: [19, 22, 7], won: true },
}
const minesLost = {
  ...{ ...mines, payout: '0.00', multiplier: '0.0000' },
  outcome: { tiles_opened: [0, 22], bomb_positions: [19, 22, 7], won: false },
}
const spin = {
  ...{
    ...common,
    game: 'spin-bottle',
    driver: 'game',
    bet: { pick: 6, sectors: 8 },
    payout: '79.20',
    multiplier: '7.9200',
  },
  outcome: { angle: '277.8', pick: 6, sectors: 8, sector: 6, won: true },
}
const voided = { ...dice, status: 'VOIDED', outcome: null, multiplier: null, payout: '0.00' }
const operator = {
  ...dice,
  driver: 'operator',
  bet: null,
  outcome: { anything: 1 },
  multiplier: null,
  payout: '7.00',
}

function failedChecks(input: unknown): string[] {
  const { valid, checks } = verifyRound(input)
  const failed = checks.filter(({ ok }) => !ok).map(({ name }) => name)
  if (valid !== (failed.length === 0)) throw new Error('valid does not follow from the checks')
  return failed
}

function envelope(data: unknown): object {
  return {
    id: 'evt_1',
    type: 'round.completed',
    created_at: '',
    environment: 'SANDBOX',
    operator_id: '',
    data,
  }
}

await t.test('every honest finished round verifies, as record, as data and as event', async (t) => {
  const rounds = { dice, diceLost, mines, minesLost, spin, voided, operator }
  for (const [name, round] of Object.entries(rounds)) {
    t.same(failedChecks(round), [], name)
    t.same(failedChecks(envelope(round)), [], `${name} event`)
    const { bet: _bet, driver: _driver, ...data } = round
    t.same(failedChecks(data), [], `${name} without bet and driver`)
  }
  t.same(failedChecks({ ...dice, free_bet: true }), [])
  t.same(failedChecks({ ...voided, status: 'FAILED' }), [])
})

await t.test('an abandoned mines round paid at its current multiplier verifies', async (t) => {
  t.same(failedChecks({ ...mines, end_reason: 'abandoned' }), [])
})

await t.test(
  'a win that a person has ended as failed verifies without its payout, and says so',
  async (t) => {
    for (const won of [dice, mines, spin]) {
      const round = { ...won, payout: '0.00', end_reason: 'win_failed' }
      t.same(failedChecks(round), [])
      const { checks } = verifyRound(envelope(round))
      const said = `payout: a person ended the win of ${won.payout} as failed, so nothing was paid`
      t.ok(checks.some(({ name, ok }) => ok && name === said))
      t.same(failedChecks({ ...round, payout: won.payout }), [said], 'a payout is a contradiction')
      t.same(
        failedChecks({ ...round, multiplier: '0.0000' }),
        ['multiplier'],
        'the multiplier stays as drawn',
      )
      t.same(
        failedChecks({ ...won, payout: '0.00' }),
        ['payout'],
        'and without the word the payout is missing',
      )
    }
    t.same(failedChecks({ ...diceLost, end_reason: 'win_failed' }), ['end_reason'], 'no loss can be failed')
  },
)

await t.test('the documented event without the additive fields verifies too', async (t) => {
  const { bet: _bet, driver: _driver, multiplier: _multiplier, status: _status, ...data } = dice
  t.same(failedChecks(envelope(data)), [])
})

await t.test('an operator-driven round says that its commitment alone was checked', async (t) => {
  const { checks } = verifyRound(operator)
  t.ok(checks.some(({ name }) => name.startsWith('commitment alone')))
  t.notOk(checks.some(({ name }) => name.startsWith('outcome')))
})

await t.test('each lie fails the check that names it', async (t) => {
  const with_ = (round: object, change: object): object => ({ ...round, ...change })
  const lies: Array<[object, string[]]> = [
    [with_(dice, { payout: '19.79' }), ['payout']],
    [with_(dice, { payout: '19.8' }), ['payout']],
    [with_(dice, { multiplier: '1.9900' }), ['multiplier']],
    [with_(dice, { multiplier: null }), ['multiplier']],
    [with_(dice, { outcome: { ...dice.outcome, roll: '77.18' } }), ['outcome roll']],
    [with_(dice, { outcome: { ...dice.outcome, won: false } }), ['outcome won']],
    [with_(dice, { outcome: { ...dice.outcome, target: '60.00' } }), ['outcome target']],
    [with_(dice, { outcome: null }), ['outcome']],
    [with_(dice, { fairness: { ...fairness, server_seed_hash: '0'.repeat(64) } }), ['server seed hash']],
    [with_(dice, { fairness: { ...fairness, nonce: 0 } }), ['nonce']],
    [with_(dice, { fairness: { ...fairness, client_seed: 'a:b' } }), ['client seed']],
    [with_(dice, { fairness: { ...fairness, algorithm: 'fair-v2' } }), ['algorithm']],
    [with_(dice, { fairness: undefined }), ['fairness']],
    [with_(dice, { game: 'roulette' }), ['game']],
    [with_(dice, { bet: { target: '0.00', direction: 'over' } }), ['bet.target']],
    [with_(dice, { stake: 10 }), ['stake']],
    [with_(dice, { currency: 'XXX' }), ['currency']],
    [
      with_(mines, { outcome: { ...mines.outcome, bomb_positions: [19, 7, 22] } }),
      ['outcome bomb_positions'],
    ],
    [
      with_(mines, { outcome: { ...mines.outcome, tiles_opened: [0, 0] } }),
      ['outcome tiles_opened', 'multiplier', 'payout'],
    ],
    [with_(mines, { outcome: { ...mines.outcome, tiles_opened: [] } }), ['outcome']],
    [with_(mines, { outcome: { ...mines.outcome, tiles_opened: [25] } }), ['outcome']],
    [with_(minesLost, { outcome: { ...minesLost.outcome, won: true } }), ['outcome won']],
    [with_(spin, { outcome: { ...spin.outcome, sector: 5 } }), ['outcome sector']],
    [with_(voided, { payout: '1.00' }), ['payout']],
    [with_(voided, { outcome: dice.outcome }), ['outcome']],
    [with_(operator, { fairness: { ...fairness, server_seed_hash: 'x' } }), ['server seed hash']],
  ]
  for (const [round, failed] of lies) t.same(failedChecks(round), failed, failed.join())
})

await t.test('another seed, nonce or client seed does not verify', async (t) => {
  const otherSeed = '0'.repeat(64)
  t.ok(
    failedChecks({ ...dice, fairness: { ...fairness, server_seed: otherSeed } }).includes('server seed hash'),
  )
  t.ok(failedChecks({ ...dice, fairness: { ...fairness, nonce: 2 } }).includes('outcome roll'))
  t.ok(failedChecks({ ...dice, fairness: { ...fairness, client_seed: null } }).includes('outcome roll'))
})

await t.test('an unfinished round is not valid yet and says so', async (t) => {
  for (const status of ['PENDING', 'OPEN', 'SETTLING', 'NONSENSE', null]) {
    const round = { ...dice, status, outcome: null, fairness: { ...fairness, server_seed: null } }
    t.same(failedChecks(round), ['server seed', 'status'], String(status))
  }
  t.same(failedChecks({ ...envelope(dice), type: 'round.started' }), ['event type'])
})

await t.test('odd input is never valid and never throws', async (t) => {
  const odd = [
    undefined,
    null,
    0,
    'x',
    [],
    {},
    { data: 1, type: 'round.completed' },
    { fairness: [] },
    () => 1,
    5n,
  ]
  for (const input of odd) t.ok(failedChecks(input).length > 0)
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withNullPrototype: true }),
      (input) => !verifyRound(input).valid,
    ),
  )
  const field = fc.constantFrom(...Object.keys(dice), 'outcome.roll', 'fairness.nonce')
  fc.assert(
    fc.property(field, fc.anything(), (name, value) => {
      const [outer = '', inner] = name.split('.')
      const nested = inner === undefined ? value : { ...Object(Reflect.get(dice, outer)), [inner]: value }
      verifyRound({ ...dice, [outer]: nested })
      verifyRound({ ...mines, [outer]: nested })
      return true
    }),
  )
})
