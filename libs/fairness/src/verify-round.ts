import { AmountError, formatAmount, parseAmount } from '@pitboss/money/amount'
import { formatMultiplier, multiplyFloor, type Rational } from '@pitboss/money/rational'
import { type Check, compare, failure, show } from './check.ts'
import type { Seeds } from './fair-v1.ts'
import type { Game, PlayState } from './games/game.ts'
import { readObject } from './games/read-fields.ts'
import { gameBySlug, games as allGames } from './games/registry.ts'
import { checkCommitment, type Fields, readRound } from './read-round.ts'

export type Verification = { readonly valid: boolean; readonly checks: readonly Check[] }

export type VerifyOptions = {
  /** The games known; all of the product's by default. */
  readonly games?: readonly Game[]
}

export type RoundKind = 'game' | 'operator' | 'returned'

/**
 * Recomputes a finished round from itself alone: commitment, draw, outcome, multiplier and payout. Takes a
 * round record, `round.completed` data or its envelope, wire names. A voided or failed round has no outcome:
 * its commitment and its empty result are checked. Of a win that a person ended as failed it says so. A round
 * that the operator's server drives shows its commitment alone. Never throws: a field that cannot be checked
 * is a failed check with the reason. Source: docs/contract.md, sections 4 and 11.
 */
export function verifyRound(input: unknown, options: VerifyOptions = {}): Verification {
  const read = readRound(input)
  if (!read.ok) return { valid: false, checks: [read.check] }
  const { round } = read
  const { checks: commitment, seeds } = checkCommitment(round)
  const kind = roundKind(round)
  const result = kind === null ? [unfinished(round)] : resultChecks(kind, round, seeds, options)
  const checks = [...commitment, ...result]
  return { valid: checks.every(({ ok }) => ok), checks }
}

/** The fields of a round that can be checked; null while it has not ended. */
export function roundKind(round: Fields): RoundKind | null {
  const status = round.get('status')
  if (status === 'VOIDED' || status === 'FAILED') return 'returned'
  if (status !== undefined && status !== 'SETTLED') return null
  const driver = round.get('driver')
  if (driver === 'operator') return 'operator'
  return driver === undefined && round.get('multiplier') === null ? 'operator' : 'game'
}

/**
 * The state that seeds, bet and the player's own actions lead to, or a failed check. A round that carries no
 * `bet` (older events) is played with the bet that its outcome names.
 */
export function replayRound(
  round: Fields,
  seeds: Seeds,
  { games = allGames }: VerifyOptions = {},
): { ok: true; state: PlayState } | { ok: false; checks: Check[] } {
  const slug = round.get('game')
  const game = typeof slug === 'string' ? gameBySlug(slug, games) : null
  if (game === null)
    return { ok: false, checks: [failure('game', games.map((one) => one.slug).join(' or '), slug)] }
  const claimed = game.readOutcome(round.get('outcome'))
  if (claimed === null) {
    return { ok: false, checks: [failure('outcome', `an outcome of ${game.slug}`, round.get('outcome'))] }
  }
  const parsed = game.parseBet(round.get('bet') ?? claimed.bet)
  if (!parsed.ok)
    return { ok: false, checks: parsed.issues.map(({ path, message }) => failure(path, message, 'not that')) }
  const { actions } = claimed
  const state = parsed.wager.play({ seeds, rtp: game.rtp, actions, cashOut: true, payoutFits: () => true })
  return { ok: true, state }
}

function resultChecks(kind: RoundKind, round: Fields, seeds: Seeds | null, options: VerifyOptions): Check[] {
  if (kind === 'operator') {
    const name =
      "commitment alone: the operator's server drives this round, its outcome is not drawn from the seed"
    const ok = seeds !== null
    return [
      { name, ok, expected: 'a revealed seed', actual: ok ? 'a revealed seed' : 'none that can be used' },
    ]
  }
  if (kind === 'returned') {
    return [
      compare('outcome', null, round.get('outcome') ?? null),
      compare('multiplier', null, round.get('multiplier') ?? null),
      ...payoutChecks(round, null),
    ]
  }
  if (seeds === null) return []
  const replay = replayRound(round, seeds, options)
  if (!replay.ok) return replay.checks
  if (!replay.state.over) return [failure('outcome', 'at least one tile opened', round.get('outcome'))]
  return gameChecks(round, replay.state)
}

function gameChecks(round: Fields, state: PlayState & { over: true }): Check[] {
  const claimed = readObject(round.get('outcome'))
  const outcome = Object.entries(state.outcome).map(([field, value]) =>
    compare(`outcome ${field}`, value, claimed?.get(field)),
  )
  const multiplier = round.get('multiplier')
  const shown = formatMultiplier(state.multiplier)
  return [
    ...outcome,
    ...(multiplier === undefined ? [] : [compare('multiplier', shown, multiplier)]),
    ...payoutChecks(round, state.multiplier),
  ]
}

function payoutChecks(round: Fields, multiplier: Rational | null): Check[] {
  const currency = round.get('currency')
  if (typeof currency !== 'string') return [failure('currency', 'a currency code', currency)]
  try {
    const stake = parseAmount(round.get('stake'), currency)
    const drawn = multiplier === null ? 0n : multiplyFloor(stake, multiplier)
    if (multiplier !== null && round.get('end_reason') === 'win_failed') {
      return failedWinChecks(round, drawn, currency)
    }
    return [compare('payout', formatAmount(drawn, currency), round.get('payout'))]
  } catch (error) {
    if (!(error instanceof AmountError)) throw error
    const [name, actual] =
      error.reason === 'UNKNOWN_CURRENCY' ? ['currency', currency] : ['stake', round.get('stake')]
    return [failure(show(name), error.message, actual)]
  }
}

/** The checks of a round whose win a person has ended as failed: it won, and nothing was paid. */
function failedWinChecks(round: Fields, drawn: bigint, currency: string): Check[] {
  if (drawn === 0n) return [failure('end_reason', 'a win, which alone can be ended as failed', 'no win')]
  const name = `payout: a person ended the win of ${formatAmount(drawn, currency)} as failed, so nothing was paid`
  return [compare(name, formatAmount(0n, currency), round.get('payout'))]
}

function unfinished(round: Fields): Check {
  return failure(
    'status',
    'SETTLED, VOIDED or FAILED: a round verifies once it has ended',
    round.get('status'),
  )
}
