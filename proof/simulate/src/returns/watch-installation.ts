import { newStream } from '@pitboss/fairness/returns/return-watch'
import {
  foldStep,
  type KeptStream,
  type StreamPlace,
  type StreamStep,
  streamBudget,
  streamKey,
} from '@pitboss/rounds/wings/returns/rules/watched-streams'
import { numbers } from './numbers.ts'

/** A simulated installation: the chances of the bets that players make by turns, and the parts of draws. */
export const installation = {
  chances: [0.495, 0.25, 0.88, 0.099],
  rtp: 0.99,
  parts: 20,
  accounts: 2,
} as const
const { rtp, parts, accounts } = installation
const chances: readonly number[] = installation.chances
const at = new Date(0)

/** The bet whose return can be wrong; every so many rounds are of it, in all accounts together. */
export const watchedBet = { chance: 0.495, rtp, every: chances.length, budget: streamBudget } as const

export type Wrong = {
  /** Points of return by which the first bet pays too much, or below zero too little. */
  readonly points: number
  /** The share of draws that are pushed into the first part of the range. */
  readonly pushed: number
}

export type Watched = {
  readonly alarms: number
  /** Rounds until the first alarm; null for none. */
  readonly firstAt: number | null
  /** Every stream as it stands, as JSON. */
  readonly streams: string
}

/**
 * One installation of `rounds` rounds under watch from its first round on, looked at after each, by the rules
 * of the service: four bets and the draws, of the whole installation and of each of two accounts.
 * @param seed the same gives the same installation
 * @param restartAt the round after which everything is written down, forgotten and read again; null for never
 */
export function watchInstallation(
  rounds: number,
  seed: number,
  { points, pushed }: Wrong = { points: 0, pushed: 0 },
  restartAt: number | null = null,
): Watched {
  const next = numbers(seed)
  const positions = { installation: 0, account: 0 }
  const steps = stepTable()
  let streams = new Map<string, KeptStream>()
  let alarms = 0
  let firstAt: number | null = null
  const count = (step: StreamStep, key: string, round: number) => {
    const kept = streams.get(key) ?? begin(step, ++positions[step.share])
    const after = foldStep(kept, step, at)
    streams.set(key, after)
    if (kept.alarmedAt !== null || after.alarmedAt === null) return
    alarms += 1
    firstAt ??= round
  }
  for (let round = 1; round <= rounds; round++) {
    const bet = round % chances.length
    const account = Math.floor(round / chances.length) % accounts
    const chance = chances[bet] ?? 0
    const won = next() < (bet === 0 ? (chance * (rtp + points / 100)) / rtp : chance)
    const part = next() < pushed ? 0 : Math.floor(next() * parts)
    for (const { step, key } of steps.bets[bet]?.[account]?.[won ? 0 : 1] ?? []) count(step, key, round)
    for (const { step, key } of steps.draws[account]?.[part] ?? []) count(step, key, round)
    if (round === restartAt) streams = new Map(Object.entries(readAgain(streams)))
  }
  return { alarms, firstAt, streams: JSON.stringify([...streams].map(written)) }
}

type Keyed = { readonly step: StreamStep; readonly key: string }

/** Every step that can come, made once: of the installation and of an account. */
function stepTable() {
  const both = (account: number, outcome: Pick<StreamStep, 'shape' | 'win' | 'outcomes' | 'outcome'>) => {
    const place = { game: 'dice', rules: '1' }
    const common: StreamPlace = { ...place, ...outcome, share: 'installation', scope: '*', currency: null }
    const own: StreamPlace = { ...place, ...outcome, share: 'account', scope: `${account}`, currency: 'EUR' }
    return [common, own].map((one): Keyed => {
      const step = { ...outcome, ...one, staked: 0n, paid: 0n }
      return { step, key: streamKey(step) }
    })
  }
  const each = <Result>(count: number, make: (at: number) => Result) =>
    Array.from({ length: count }, (_, number) => make(number))
  const bets = chances.map((chance) =>
    each(accounts, (account) =>
      each(2, (outcome) =>
        both(account, { shape: `chance ${chance}`, win: { chance, rtp }, outcomes: 2, outcome }),
      ),
    ),
  )
  const draws = each(accounts, (account) =>
    each(parts, (outcome) => both(account, { shape: 'draws', win: null, outcomes: parts, outcome })),
  )
  return { bets, draws }
}

function begin(step: StreamStep, position: number): KeptStream {
  return { ...newStream(step, position, streamBudget), staked: 0n, paid: 0n, points: [], crossing: null }
}

/** The streams after they were written as JSON and read again, as by a process that starts. */
function readAgain(streams: ReadonlyMap<string, KeptStream>): Record<string, KeptStream> {
  const text = JSON.stringify(Object.fromEntries([...streams].map(written)))
  const read: Record<string, KeptStream> = JSON.parse(text)
  return Object.fromEntries(
    Object.entries(read).map(([key, { points, ...kept }]) => [
      key,
      { ...kept, staked: 0n, paid: 0n, points: points.map((point) => ({ ...point, at })) },
    ]),
  )
}

function written([key, { evidence, position, alarmedAt, points, ...kept }]: [string, KeptStream]) {
  const { game, shape, budget, win, crossing } = kept
  const fields = { game, shape, position, budget, win, evidence, alarmedAt, crossing, points }
  return [key, fields] as const
}
