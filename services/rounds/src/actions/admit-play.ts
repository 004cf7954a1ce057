import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'

export const yieldReasons = ['stream-full', 'recording-stopped', 'deliveries-late'] as const
export type YieldReason = (typeof yieldReasons)[number]

/** A stream that is full or not recorded is well again once somebody repairs it. */
const refusals: Readonly<Record<YieldReason, { readonly why: string; readonly retryAfterS: number }>> = {
  'stream-full': { why: 'New play is refused until there is room for its events', retryAfterS: 5 },
  'recording-stopped': { why: 'New play is refused until its events are recorded again', retryAfterS: 5 },
  'deliveries-late': { why: 'New play waits for deliveries to catch up', retryAfterS: 1 },
}

export type PlayLoad = {
  readonly isStreamFull: () => boolean
  readonly isRecordingStopped: () => boolean
  /** By how many milliseconds the account's deliveries are late. */
  readonly latenessOf: (account: string) => number
  readonly yields: YieldRule
  readonly random: () => number
  readonly noteRefused: (reason: YieldReason) => void
}

/** Refuses new play by its load. Source: docs/contract.md, section 7. @throws ServiceError SERVICE_UNAVAILABLE */
export function admitPlay(load: PlayLoad, { operatorId }: Scope): void {
  const reason = refusalReason(load, operatorId)
  if (reason === null) return
  load.noteRefused(reason)
  const { why, retryAfterS } = refusals[reason]
  throw new ServiceError('SERVICE_UNAVAILABLE', { message: `${why}; what is owed is settled.`, retryAfterS })
}

function refusalReason(load: PlayLoad, operatorId: string): YieldReason | null {
  if (load.isStreamFull()) return 'stream-full'
  if (load.isRecordingStopped()) return 'recording-stopped'
  return load.random() < shareOfPlay(load.latenessOf(operatorId), load.yields) ? null : 'deliveries-late'
}

/** When new play yields to deliveries that are late. Source: docs/contract.md, section 7. */
export type YieldRule = {
  /** Milliseconds of lateness beyond which a share of new play is refused. */
  readonly fromMs: number
  /** From here on all of it is. */
  readonly allMs: number
}

export const usualYield: YieldRule = { fromMs: 10_000, allMs: 30_000 }

/** The share of new play that is taken, falling evenly between the bounds. @returns 0 to 1 */
export function shareOfPlay(lateMs: number, { fromMs, allMs }: YieldRule): number {
  if (lateMs >= allMs) return 0
  return Math.min(1, (allMs - lateMs) / (allMs - fromMs))
}
