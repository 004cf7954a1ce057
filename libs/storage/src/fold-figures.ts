import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Poll } from '@pitboss/runtime/poll'
import type { Db } from 'mongodb'
import type { Logger } from 'pino'
import { type FigureSubject, type FiguresStore, type MinuteFigures, minuteMs } from './figures-store.ts'
import { startLeasedPoll } from './start-leased-poll.ts'

/**
 * How old a minute is when it is final. A record bears the time at which its write was made up; the driver's
 * waits and its one repeat end within 60 s of that, and clocks of processes are at most 2 s from the
 * database's.
 */
export const settledAfterMs = 90_000
/** Minutes made final in one run, after a standstill. */
const minutesPerRunMax = 60
const everyMs = 30_000

/** How long a dead replica keeps the others from the figures. */
const leaseTtlMs = 45_000

/** One thing that happened to a subject, and the names of the counters that it raises by one. */
export type FigureFact = FigureSubject & { readonly at: Date; readonly counts: readonly string[] }

/** The facts of calls or attempts, each at the time of its write; those of earlier releases have none. */
export function storedFacts<One extends { readonly storedAt?: Date }>(
  subject: FigureSubject,
  all: readonly One[],
  countsOf: (one: One) => readonly string[],
): FigureFact[] {
  return all.flatMap((one) =>
    one.storedAt === undefined ? [] : [{ ...subject, at: one.storedAt, counts: countsOf(one) }],
  )
}

type Folding = {
  readonly figures: FiguresStore
  /** The facts that were stored at `from` or later, in the order of their records' last change. */
  readonly readFacts: (from: Date) => AsyncIterable<FigureFact>
  readonly clock: Clock
}

/**
 * Counts anew, from the records themselves, every minute that is not final yet, and writes each as a value.
 * A run that dies, a run beside another one and a second run therefore all end with the same figures. A
 * minute without a fact is not written.
 * @returns true when more minutes can be made final at once
 */
export async function foldFigures({ figures, readFacts, clock }: Folding): Promise<boolean> {
  const now = clock.now()
  const settled = minuteStart(now.getTime() - settledAfterMs)
  const final = await figures.finalUntil()
  if (final === null) {
    await figures.begin(settled)
    return true
  }
  const to = Math.min(now.getTime(), final.getTime() + minutesPerRunMax * minuteMs)
  await figures.put(await count(readFacts, final, new Date(to)), now)
  await failpoint('figures.put')
  const nowFinal = new Date(Math.min(settled.getTime(), to))
  if (nowFinal > final) await figures.moveFinal(nowFinal)
  return to < now.getTime()
}

async function count(readFacts: Folding['readFacts'], from: Date, to: Date): Promise<MinuteFigures[]> {
  const minutes = new Map<string, FigureSubject & { at: Date; counters: Record<string, number> }>()
  for await (const { scope, subject, at, counts } of readFacts(from)) {
    if (at < from || at >= to) continue
    const minute = minuteStart(at.getTime())
    const key = `${scope.operatorId}/${scope.environment}/${subject}/${minute.getTime()}`
    const kept = minutes.get(key) ?? { scope, subject, at: minute, counters: {} }
    for (const name of counts) kept.counters[name] = (kept.counters[name] ?? 0) + 1
    minutes.set(key, kept)
  }
  return [...minutes.values()]
}

/** Folds on one replica at a time. The lease only saves double work: figures are right without it. */
export function startFigures({
  db,
  clockAheadMs,
  logger,
  ...folding
}: Folding & { readonly db: Db; readonly clockAheadMs: () => number; readonly logger: Logger }): Poll {
  return startLeasedPoll({
    ...{ event: 'figures.failed', level: 'warn', everyMs, logger },
    lease: { db, name: 'figures', ttlMs: leaseTtlMs, clock: folding.clock, clockAheadMs },
    work: () => foldFigures(folding),
  })
}

function minuteStart(ms: number): Date {
  return new Date(Math.floor(ms / minuteMs) * minuteMs)
}
