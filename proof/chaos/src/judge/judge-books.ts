import { createHash, createHmac } from 'node:crypto'

type Named<Names extends string> = Readonly<Record<Names, string>>
type Round = Named<
  'round_id' | 'player_id' | 'game' | 'status' | 'stake' | 'currency' | 'driver' | 'wallet_round_id'
> &
  Readonly<{
    payout: string | null
    multiplier: string | null
    free_bet: boolean
    completed_at: string | null
    end_reason: string | null
    bet: Named<'target' | 'direction'> & Readonly<{ pick: number; sectors: number; mines: number }>
    outcome: Readonly<{ tiles_opened: readonly number[] }>
    fairness: Named<'server_seed' | 'server_seed_hash'> &
      Readonly<{ client_seed: string | null; nonce: number }>
  }>
type Movement = Named<'transaction_id' | 'type' | 'status' | 'amount' | 'currency' | 'round_id'>
type Entry = Named<'operation' | 'transaction_id' | 'player_id' | 'currency' | 'effect' | 'balance_after'> &
  Readonly<{ seq: number; reference_transaction_id: string | null; round_id: string | null }>
type Event = Named<'id' | 'type'> & Readonly<{ data: Readonly<Record<string, unknown>> }>
/** One account's environment: what its API and its wallet said when everything was at rest. */
export type Books = Readonly<{
  name: string
  rounds: readonly Round[]
  movements: readonly Movement[]
  events: readonly Event[]
  ledger: readonly Entry[]
  /** At the wallet at the end, by player, then by currency. */
  balances: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The greatest payout by game and currency (`dice USD`), as the catalogue says it. */
  maxPayouts: Readonly<Record<string, string>>
  /** What a restored database of rounds lost or set back, and movements that went with it; else null. */
  setBack: readonly string[] | null
}>

/** ISO 4217's minor units where they are not 2, then coins. Section 1. */
const decimals: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0]),
  ),
  ...Object.fromEntries('BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3])),
  ...{ CLF: 4, UYW: 4, BTC: 8, LTC: 8, ETH: 18, USDT: 6, USDC: 6 },
}

const stakeOfGame = /^bet_[0-9a-hjkmnp-tv-z]{26}$/

type Found = { name: string; checked: number; violations: string[] }
let found = new Map<string, Found>()

/**
 * Judges the books of a chaos run once more. Nothing here is shared with the product, on purpose: decimals,
 * currencies, draws and payouts are written a second time, from docs/contract.md, so that a mistake in the
 * product's own libraries cannot hide in the checker that uses them. Imports are Node's alone. Ours.
 */
export function judgeBooks(all: readonly Books[]): Found[] {
  found = new Map()
  for (const books of all) for (const judge of [judgeRounds, judgeMoney, judgeEvents]) judge(books)
  return [...found.values()]
}

function check(name: string, holds: boolean, broken: () => string): void {
  const one = found.get(name) ?? { name: `judge: ${name}`, checked: 0, violations: [] }
  found.set(name, one)
  one.checked += 1
  if (!holds) one.violations.push(broken())
}

/** Minor units of an amount as the API writes it; null where it is written in any other way. */
function minorOf(text: unknown, currency: string): bigint | null {
  if (typeof text !== 'string' || !/^[A-Z0-9]{3,5}$/.test(currency)) return null
  const places = decimals[currency] ?? 2
  const form = places === 0 ? /^-?(0|[1-9]\d*)$/ : new RegExp(`^-?(0|[1-9]\\d*)\\.\\d{${places}}$`)
  return form.test(text) ? BigInt(text.replace('.', '')) : null
}

function amount(text: unknown, currency: string, where: string): bigint {
  const minor = minorOf(text, currency)
  const show = () => `${where}: ${String(text)} ${currency}`
  check('amounts have the decimals of their currency', minor !== null, show)
  return minor ?? 0n
}

/** fair-v1: `draw(n)` takes words until one is not rejected. Section 4. */
function drawer(serverSeed: string, clientSeed: string | null, nonce: number): (n: number) => number {
  let block = 0
  let left: bigint[] = []
  const next = (): bigint => {
    if (left.length === 0) {
      const message = `${clientSeed ?? ''}:${nonce}:${block++}`
      const hex = createHmac('sha256', serverSeed).update(message, 'utf8').digest('hex')
      left = (hex.match(/.{8}/g) ?? []).map((word) => BigInt(`0x${word}`))
    }
    return left.shift() ?? 0n
  }
  const range = 1n << 32n
  return (n) => {
    for (;;) {
      const m = next() * BigInt(n)
      if (m % range >= range % BigInt(n)) return Number(m / range)
    }
  }
}

const choose = (n: number, k: number): bigint =>
  Array.from({ length: k }, (_, i) => i).reduce((all, i) => (all * BigInt(n - i)) / BigInt(i + 1), 1n)

type Result = { outcome: unknown; won: boolean; times: bigint; by: bigint }

/** What bet and seeds lead to; `times/by` is the exact multiplier. Section 4, games. */
function resultOf({ game, bet, outcome, fairness }: Round): Result | null {
  const draw = drawer(fairness.server_seed, fairness.client_seed, fairness.nonce)
  const two = (n: number, digits: number, places: number) => {
    const text = String(n).padStart(digits, '0')
    return `${text.slice(0, -places)}.${text.slice(-places)}`
  }
  if (game === 'dice') {
    const target = Number(bet.target.replace('.', ''))
    const roll = draw(10_000)
    const won = bet.direction === 'over' ? roll > target : roll < target
    const winning = bet.direction === 'over' ? 9_999 - target : target
    const said = { roll: two(roll, 4, 2), target: bet.target, direction: bet.direction, won }
    return { outcome: said, won, times: 990_000n, by: 100n * BigInt(winning) }
  }
  if (game === 'spin-bottle') {
    const angle = draw(3_600)
    const sector = Math.floor((angle * bet.sectors) / 3_600)
    const won = sector === bet.pick
    const said = { angle: two(angle, 4, 1), pick: bet.pick, sectors: bet.sectors, sector, won }
    return { outcome: said, won, times: 99n * BigInt(bet.sectors), by: 100n }
  }
  if (game !== 'mines') return null
  const pool = Array.from({ length: 25 }, (_, i) => i)
  const bombs = Array.from({ length: bet.mines }, (_, i) => pool.splice(draw(25 - i), 1)[0])
  const tiles = outcome.tiles_opened
  const won = !tiles.some((tile) => bombs.includes(tile))
  const said = { tiles_opened: tiles, bomb_positions: bombs, won }
  const times = 99n * choose(25, tiles.length)
  return { outcome: said, won, times, by: 100n * choose(25 - bet.mines, tiles.length) }
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
const sorted = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

function judgeFairness(round: Round): void {
  const { round_id: id, fairness, currency } = round
  const hash = createHash('sha256').update(String(fairness.server_seed), 'utf8').digest('hex')
  check(
    'the seed of an ended round is the one it was committed to',
    hash === fairness.server_seed_hash,
    () => id,
  )
  if (round.status !== 'SETTLED' || round.driver !== 'game') return
  const result = resultOf(round)
  if (result === null) return check('every game is known', false, () => `${id}: ${round.game}`)
  const shown = () => `${id}: ${JSON.stringify(round)} against ${JSON.stringify(result.outcome)}`
  check('an outcome is the one that its seeds draw', same(round.outcome, result.outcome), shown)
  const stake = amount(round.stake, currency, id)
  const payout = amount(round.payout, currency, id)
  const due = result.won ? (stake * result.times) / result.by : 0n
  const isUnpaid = round.end_reason === 'win_failed'
  check('a payout is stake × multiplier, rounded down', payout === (isUnpaid ? 0n : due), shown)
  const fraction = String((10_000n * result.times) / result.by).padStart(5, '0')
  const multiplier = result.won ? `${fraction.slice(0, -4)}.${fraction.slice(-4)}` : '0.0000'
  check('a multiplier is cut to four decimals', round.multiplier === multiplier, shown)
}

function judgeRounds({ rounds, maxPayouts, setBack }: Books): void {
  const chains = new Map<string, number[]>()
  for (const round of rounds) {
    const { round_id: id, status, fairness } = round
    check('every round ends', ['SETTLED', 'VOIDED', 'FAILED'].includes(status), () => `${id} is ${status}`)
    if (round.completed_at === null) continue
    judgeFairness(round)
    const most = maxPayouts[`${round.game} ${round.currency}`]
    if (most !== undefined && round.driver === 'game') {
      const isWithin = amount(round.payout, round.currency, id) <= amount(most, round.currency, 'catalogue')
      check('no game pays more than its greatest payout', isWithin, () => `${id}: ${round.payout} of ${most}`)
    }
    const chain = `${round.player_id}/${round.game}`
    chains.set(chain, [...(chains.get(chain) ?? []), fairness.nonce])
  }
  if (setBack !== null) return
  for (const [chain, nonces] of chains) {
    const isGapless = nonces.toSorted((a, b) => a - b).every((nonce, index) => nonce === index + 1)
    check('nonces run 1, 2, 3 …', isGapless, () => `${chain}: ${nonces.join(' ')}`)
  }
}

/** What stands at the wallet, by id, from its own ledger: a debit or credit and what took it back. */
function judgeMoney({ rounds, movements, ledger, balances, setBack }: Books): void {
  const effects = new Map<string, bigint>()
  const byRound = new Map<string, bigint>()
  const roundOf = new Map<string, string>()
  const purses = new Map<string, bigint>()
  for (const entry of ledger.toSorted((a, b) => a.seq - b.seq)) {
    const { player_id: player, currency, operation } = entry
    const effect = amount(entry.effect, currency, `ledger ${entry.seq}`)
    const purse = `${player} ${currency}`
    const after = (purses.get(purse) ?? 0n) + effect
    purses.set(purse, after)
    const told = amount(entry.balance_after, currency, `ledger ${entry.seq}`)
    check('each entry of the ledger follows from the one before', told === after, () => JSON.stringify(entry))
    // A balance that is set: at a player's first call, for one.
    if (operation === 'adjustment') continue
    const id = (operation === 'rollback' ? entry.reference_transaction_id : null) ?? entry.transaction_id
    effects.set(id, (effects.get(id) ?? 0n) + effect)
    const round = roundOf.get(id) ?? entry.round_id
    if (round === null) continue
    roundOf.set(id, round)
    byRound.set(round, (byRound.get(round) ?? 0n) + effect)
  }
  for (const [player, own] of Object.entries(balances)) {
    for (const [currency, balance] of Object.entries(own)) {
      const purse = purses.get(`${player} ${currency}`)
      const holds = purse === undefined || purse === amount(balance, currency, player)
      check('balances follow from the ledger', holds, () => `${player}: ${balance} ${currency}, not ${purse}`)
    }
  }
  const ofGames = new Set(rounds.flatMap(({ driver, round_id }) => (driver === 'game' ? [round_id] : [])))
  for (const movement of movements) {
    const { transaction_id: id, type, status, currency } = movement
    if (setBack?.includes(id) === true) continue
    const isOurs = type !== 'BET' || !ofGames.has(movement.round_id) || stakeOfGame.test(id)
    check('no page names a movement', isOurs, () => `${type} ${id} of ${movement.round_id}`)
    const minor = amount(movement.amount, currency, id)
    check('every movement ends', status !== 'PENDING', () => `${id} is ${status}`)
    if (type === 'ROLLBACK' || (status === 'REFUNDED' && type === 'BET' && minor === 0n)) continue
    const stands = status === 'SUCCESS' || status === 'REFUNDED'
    const due = !stands ? 0n : type === 'BET' ? -minor : minor
    const shown = () => `${type} ${id} is ${status} ${movement.amount}; at the wallet ${effects.get(id)}`
    check('what a movement says is what stands at the wallet', (effects.get(id) ?? 0n) === due, shown)
    effects.delete(id)
  }
  for (const [id, effect] of effects) {
    if (setBack?.includes(id) === true) continue
    check('nothing stands at the wallet that is no movement', effect === 0n, () => `${id}: ${effect}`)
  }

  const reversed = new Set(movements.filter(({ type }) => type === 'ROLLBACK').map((one) => one.round_id))
  for (const round of rounds) {
    const { round_id: id, currency, status, driver } = round
    if (round.completed_at === null || setBack?.includes(id)) continue
    // An operator may take back a win of a round that has ended; its payout stays what was told.
    if (driver === 'operator' && reversed.has(id)) continue
    const stake = round.free_bet || status !== 'SETTLED' ? 0n : amount(round.stake, currency, id)
    const payout = round.payout === null ? 0n : amount(round.payout, currency, id)
    const moved = byRound.get(round.wallet_round_id) ?? 0n
    const shown = () =>
      `${id} ${status}: stake ${round.stake}, payout ${round.payout}, at the wallet ${moved}`
    check(
      'a round moves its payout less its stake, and nothing when it is voided',
      moved === payout - stake,
      shown,
    )
  }
}

function judgeEvents({ rounds, movements, events, setBack }: Books): void {
  const ids = new Set(events.map(({ id }) => id))
  check('no event is told twice', ids.size === events.length, () => `${events.length - ids.size} are`)
  const ends = new Map(
    events.filter(({ type }) => type === 'round.completed').map(({ data }) => [data.round_id, data]),
  )
  const about = new Map<string, Event['data'][]>()
  for (const { type, data } of events) {
    if (type !== 'transaction.bet' && type !== 'transaction.win') continue
    const id = String(data.transaction_id)
    about.set(id, [...(about.get(id) ?? []), data])
  }
  for (const round of rounds) {
    if (round.status !== 'SETTLED' || setBack?.includes(round.round_id)) continue
    const told = ends.get(round.round_id)
    const fields = [
      'status',
      'stake',
      'payout',
      'currency',
      'player_id',
      'game',
      'outcome',
      'fairness',
    ] as const
    const holds = told !== undefined && fields.every((name) => same(told[name], round[name]))
    check(
      'round.completed says what the record says',
      holds,
      () => `${round.round_id}: ${JSON.stringify(told)}`,
    )
  }
  for (const { transaction_id: id, type, status, amount: text, currency, round_id } of movements) {
    if (status !== 'SUCCESS' || type === 'ROLLBACK' || setBack?.includes(round_id)) continue
    const told = about.get(id) ?? []
    // A loss may be recorded as a win of nothing, which nobody is told of.
    const isNothing = type === 'WIN' && minorOf(text, currency) === 0n && told.length === 0
    const holds = isNothing || (told.length === 1 && told[0]?.type === type && told[0].amount === text)
    check('a movement that succeeded is told once', holds, () => `${type} ${id}: ${JSON.stringify(told)}`)
  }
}
