/**
 * Evidence against a known chance, judged at every moment. `log` is the logarithm of a betting score that
 * starts at 1 and, while the chances are right, stays below 1/a for ever with a probability of at least 1 − a
 * (Ville's inequality). The bets are those of Krichevsky and Trofimov: a mixture over all other chances, so
 * both directions count. Chances here are numbers, not money. Source: docs/rtp-watch.md.
 */
export type Evidence = {
  /** How often each outcome came. */
  readonly counts: readonly number[]
  readonly total: number
  readonly log: number
}

/** @param outcomes how many there are, at least 2 */
export function noEvidence(outcomes: number): Evidence {
  return { counts: Array.from({ length: outcomes }, () => 0), total: 0, log: 0 }
}

/** The evidence after one more outcome, which had this chance if all is right. */
export function addOutcome(evidence: Evidence, outcome: number, chance: number): Evidence {
  const { counts, total, log } = evidence
  const seen = counts[outcome]
  if (seen === undefined) throw new RangeError(`there is no outcome ${outcome}`)
  const bet = (seen + 0.5) / (total + counts.length / 2)
  return {
    counts: counts.with(outcome, seen + 1),
    total: total + 1,
    log: log + Math.log(bet / chance),
  }
}

/**
 * What is left of an error budget for the stream that was met as the `position`-th, from 1 on: the shares
 * 1/(1·2), 1/(2·3), 1/(3·4), … add up to the whole, however many streams come.
 * @returns the logarithm of the score at which that stream is an alarm
 */
export function alarmAt(position: number, budget: number): number {
  return Math.log((position * (position + 1)) / budget)
}

/**
 * The chances of outcome 0, of two, that the evidence does not rule out at this threshold. While the chance
 * is right it lies inside at every moment at once, but for the share of the error budget.
 */
export function chanceBand(
  { counts, total, log }: Evidence,
  chance: number,
  threshold: number,
): { low: number; high: number } {
  const [wins = 0] = counts
  const losses = total - wins
  const likelihood = (q: number) => part(wins, q) + part(losses, 1 - q)
  const mixture = log + likelihood(chance)
  const isOut = (q: number) => mixture - likelihood(q) >= threshold
  const middle = total === 0 ? chance : wins / total
  return { low: edge(0, middle, isOut), high: edge(1, middle, isOut) }
}

function part(count: number, chance: number): number {
  return count === 0 ? 0 : count * Math.log(chance)
}

const halvings = 60

/** The place between `outer`, which may be ruled out, and `inner`, which is not, where that changes. */
function edge(outer: number, inner: number, isOut: (chance: number) => boolean): number {
  if (!isOut(outer)) return outer
  let [out, within] = [outer, inner]
  for (let count = 0; count < halvings; count++) {
    const half = (out + within) / 2
    if (isOut(half)) out = half
    else within = half
  }
  return within
}

const steps = 100

/** Trials after which a chance of `actual` in the place of `chance` is to be expected to be an alarm. */
export function noticedWithin(chance: number, actual: number, threshold: number): number {
  const gain = part(actual, actual / chance) + part(1 - actual, (1 - actual) / (1 - chance))
  if (!(gain > 0)) return Infinity
  let trials = threshold / gain
  for (let count = 0; count < steps; count++) {
    trials = (threshold + Math.log((Math.max(trials, 1) * Math.PI) / 2) / 2) / gain
  }
  return Math.ceil(trials)
}
