import { alarmAt } from '@pitboss/fairness/returns/evidence'
import { streamBudget } from '@pitboss/rounds/wings/returns/rules/watched-streams'
import { numbers } from './numbers.ts'
import { installation, type Wrong } from './watch-installation.ts'

/** A stream in bare numbers that change in place. */
type CountedStream = {
  /** Of each outcome, if all is right. */
  readonly chances: readonly number[]
  readonly counts: number[]
  /** 0 before its first outcome. */
  position: number
  threshold: number
  total: number
  log: number
  alarmedAt: number | null
}

export type Counted = {
  readonly alarms: number
  /** Rounds until the first alarm; null for none. */
  readonly firstAt: number | null
  /** Of the installation, then of each account: a stream for each bet, then that of draws. */
  readonly streams: readonly CountedStream[]
}

/**
 * The installation of `watchInstallation` with the same seed, without pictures and without a copy of each
 * stream at each round, so some thirty times as fast. The sums are made in the same order, so the scores are
 * the same to the last digit; a test and every run of `npm run returns` hold that.
 * @param stopsAtAlarm ends the rounds with the first alarm
 */
export function countAlarms(
  rounds: number,
  seed: number,
  { points, pushed }: Wrong = { points: 0, pushed: 0 },
  stopsAtAlarm = false,
): Counted {
  const { chances, rtp, parts, accounts } = installation
  const next = numbers(seed)
  const owners = Array.from({ length: 1 + accounts }, newStreams)
  const positions = [0, 0]
  let alarms = 0
  let firstAt: number | null = null
  const count = (stream: CountedStream, outcome: number, share: number, round: number) => {
    if (stream.position === 0) {
      stream.position = positions[share] = (positions[share] ?? 0) + 1
      stream.threshold = alarmAt(stream.position, streamBudget)
    }
    const { counts } = stream
    const seen = counts[outcome] ?? 0
    const bet = (seen + 0.5) / (stream.total + counts.length / 2)
    counts[outcome] = seen + 1
    stream.total += 1
    stream.log += Math.log(bet / (stream.chances[outcome] ?? 0))
    if (stream.alarmedAt !== null || stream.log < stream.threshold) return
    stream.alarmedAt = stream.total
    alarms += 1
    firstAt ??= round
  }
  for (let round = 1; round <= rounds && !(stopsAtAlarm && alarms > 0); round++) {
    const bet = round % chances.length
    const account = 1 + (Math.floor(round / chances.length) % accounts)
    const chance = chances[bet] ?? 0
    const won = next() < (bet === 0 ? (chance * (rtp + points / 100)) / rtp : chance)
    const part = next() < pushed ? 0 : Math.floor(next() * parts)
    for (const [at, outcome] of [
      [bet, won ? 0 : 1],
      [chances.length, part],
    ] as const) {
      const [common, own] = [owners[0]?.[at], owners[account]?.[at]]
      if (common === undefined || own === undefined) throw new RangeError(`no stream ${at} of ${account}`)
      count(common, outcome, 0, round)
      count(own, outcome, 1, round)
    }
  }
  return { alarms, firstAt, streams: owners.flat() }
}

function newStreams(): CountedStream[] {
  const { chances, parts } = installation
  const outcomes = [
    ...chances.map((chance) => [chance, 1 - chance]),
    Array.from({ length: parts }, () => 1 / parts),
  ]
  return outcomes.map((each) => ({
    ...{ chances: each, counts: each.map(() => 0), position: 0, threshold: Infinity },
    ...{ total: 0, log: 0, alarmedAt: null },
  }))
}
