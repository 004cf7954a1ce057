import { ServiceError } from '@pitboss/errors/service-error'
import type { Wager } from '@pitboss/fairness/games/game'
import type { StakeAtLimit } from '@pitboss/fairness/returns/paid-return'
import { formatAmount } from '@pitboss/money/amount'
import { currencyCodes } from '@pitboss/money/currencies'
import type { Rational } from '@pitboss/money/rational'
import t, { type Test } from 'tap'
import { presentGame } from '../../src/records/present-session.ts'
import { type CatalogueEntry, createCatalogue } from '../../src/rules/catalogue.ts'
import { type Limits, platformLimits, assertPays } from '../../src/rules/limits.ts'
import { newRound } from '../../src/rules/new-round.ts'
import type { RoundContext } from '../../src/rules/round-message.ts'
import { transition } from '../../src/rules/transition.ts'

/** One win of one bet: of so many equally likely ways, so many lead to it. */
type Way = {
  readonly bet: string
  readonly wager: Wager
  readonly step: number
  readonly ways: bigint
  readonly of: bigint
}

const now = new Date('2026-11-28T12:00:00.000Z')
const catalogue = createCatalogue()

/** Every bet of every game with each of its wins, counted from the rules in words. */
const waysOf: Readonly<Record<string, () => Way[]>> = {
  dice() {
    const bets = Array.from({ length: 9998 }, (_, index) => index + 1).flatMap((target) => {
      const text = `${Math.floor(target / 100)}.${String(target % 100).padStart(2, '0')}`
      return [
        { bet: { target: text, direction: 'over' }, winning: 9999 - target },
        { bet: { target: text, direction: 'under' }, winning: target },
      ]
    })
    return bets
      .filter(({ winning }) => winning <= 9800)
      .map(({ bet, winning }) => way('dice', bet, 0, BigInt(winning), 10_000n))
  },
  'spin-bottle': () =>
    [2, 3, 4, 5, 6, 8, 9, 10, 12].flatMap((sectors) =>
      Array.from({ length: sectors }, (_, pick) =>
        way('spin-bottle', { pick, sectors }, 0, 1n, BigInt(sectors)),
      ),
    ),
  mines: () =>
    Array.from({ length: 24 }, (_, index) => index + 1).flatMap((mines) =>
      Array.from({ length: 25 - mines }, (_, step) =>
        way('mines', { mines }, step, choose(25 - mines, step + 1), choose(25, step + 1)),
      ),
    ),
}

function choose(n: number, k: number): bigint {
  let count = 1n
  for (let taken = 1; taken <= k; taken++) count = (count * BigInt(n - k + taken)) / BigInt(taken)
  return count
}

function way(slug: string, bet: unknown, step: number, ways: bigint, of: bigint): Way {
  const parsed = catalogue.find(slug)?.game.parseBet(bet)
  if (parsed?.ok !== true) throw new Error(`${JSON.stringify(bet)} is no bet of ${slug}`)
  return { bet: JSON.stringify(bet), wager: parsed.wager, step, ways, of }
}

const session = {
  _id: 'ses_01jd5r7mq8v3k9x2c4n6p0s1tw',
  operatorId: 'op',
  environment: 'SANDBOX',
  playerId: 'p',
  game: 'dice',
  brandId: null,
  currency: 'USD',
  expiresAt: now,
} as const

/** What the service pays for wins of a stake, by the transition of a round whose stake was taken. */
function payer({ minStake: stake, maxPayout }: Limits): (multiplier: Rational) => bigint {
  const round = newRound({
    ...{ session, driver: 'game', gameId: 'g', clientSeed: null, bet: {}, stake, maxPayout, now },
    ...{ requestHash: '', clientTransactionId: null, grantId: null },
    commitment: { nonce: 1, sealedSeed: '', serverSeedHash: '' },
    newId: (prefix) => prefix,
    newUuid: () => 'uuid',
  })
  const [asked] = round.stakes
  if (asked === undefined) throw new Error('the round has no stake')
  return byMultiplier((multiplier) => {
    const context: RoundContext = {
      ...{ now, winId: () => 'win', refundId: () => 'ref', serverSeed: '' },
      play: () => ({
        ...{ over: true, actions: [], won: true, multiplier, outcome: {}, endedBy: 'draw', steps: [] },
      }),
    }
    const step = transition(round, { type: 'stake-taken', transactionId: asked.transactionId }, context)
    if (step.kind !== 'changed' || step.round.payout === null) throw new Error('the win is not paid')
    return step.round.payout
  })
}

/** The same function, asked once for each multiplier: bets over and under a target have the same. */
function byMultiplier<Result>(run: (multiplier: Rational) => Result): (multiplier: Rational) => Result {
  const known = new Map<string, Result>()
  return (multiplier) => {
    const key = `${multiplier.n}/${multiplier.d}`
    const result = known.get(key) ?? run(multiplier)
    known.set(key, result)
    return result
  }
}

/** The least return by enumeration, cut to four decimals; null when no bet is taken. */
function enumerate(t: Test, entry: CatalogueEntry, ways: readonly Way[], limits: Limits) {
  const { minStake, maxPayout } = limits
  const paid = payer(limits)
  const payouts = ways.map(({ wager, step }) => {
    const multiplier = wager.winMultipliers(entry.rtp)[step]
    if (multiplier === undefined) throw new Error('a win has a multiplier')
    return paid(multiplier)
  })
  const pays = new Map<string, boolean>()
  for (const [index, { bet }] of ways.entries()) {
    const payout = payouts[index] ?? 0n
    pays.set(bet, pays.get(bet) === true || (payout > minStake && payout <= maxPayout))
  }
  let least: bigint | null = null
  for (const [index, { bet, ways: some, of }] of ways.entries()) {
    const payout = payouts[index] ?? 0n
    if (pays.get(bet) !== true || payout > maxPayout) continue
    const cut = (some * payout * 10_000n) / (of * minStake)
    if (least === null || cut < least) least = cut
  }
  for (const { bet, wager } of ways) {
    const taken = isTaken(wager.winMultipliers(entry.rtp), entry.rtp, { stake: minStake, maxPayout })
    if (taken !== pays.get(bet)) t.fail(`${bet} at ${minStake}: ${taken ? 'taken' : 'refused'}`)
  }
  return least
}

function isTaken(multipliers: readonly Rational[], rtp: Rational, at: StakeAtLimit): boolean {
  try {
    assertPays(multipliers, rtp, 'USD', at)
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'BET_LIMIT_EXCEEDED') return false
    throw error
  }
}

for (const entry of catalogue.entries) {
  const { slug } = entry.game
  t.test(`${slug}: in every currency the least stake returns what is published`, (t) => {
    const ways = waysOf[slug]?.() ?? []
    t.equal(ways.length, { dice: 19_600, mines: 300, 'spin-bottle': 59 }[slug])
    const known = new Map<string, bigint | null>()
    for (const currency of currencyCodes()) {
      const limits = platformLimits(currency)
      if (limits === null) throw new Error(`${currency} has no limits`)
      const key = `${limits.minStake}/${limits.maxPayout}`
      if (!known.has(key)) known.set(key, enumerate(t, entry, ways, limits))
      const least = known.get(key) ?? null
      const settings = { enabled: true, limits: new Map(), byOperations: new Map(), version: 0 }
      const [shown] = presentGame({ entry, settings, status: 'AVAILABLE' }, [currency]).limits
      const wanted = least === null ? null : `0.${String(least).padStart(4, '0')}`
      t.equal(shown?.rtp_at_min_stake, wanted, `${currency} ${formatAmount(limits.minStake, currency)}`)
    }
    t.end()
  })
}
