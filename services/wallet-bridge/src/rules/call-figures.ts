import {
  bucketOf,
  durationBoundsMs,
  type WalletOperationFigures,
  type WalletPoint,
} from '@pitboss/contracts/objects/series'
import type { WalletOperation } from './movement.ts'

export type CountedCall = {
  readonly operation: WalletOperation
  readonly classification: 'SUCCESS' | 'REFUSED' | 'UNKNOWN'
  readonly latencyMs: number | null
}

type Counters = Readonly<Record<string, number>>

/** The counters that a call raises by one: its verdict, and the bucket of its duration when it is known. */
export function countsOfCall({ operation, classification, latencyMs }: CountedCall): string[] {
  return [
    `${operation}:${classification}`,
    ...(latencyMs === null ? [] : [`${operation}:d${bucketOf(durationBoundsMs, latencyMs)}`]),
  ]
}

export function walletPointOf(at: Date, minutes: readonly Counters[]): WalletPoint {
  const sum = (name: string) => minutes.reduce((total, counters) => total + (counters[name] ?? 0), 0)
  const of = (operation: WalletOperation): WalletOperationFigures => ({
    success: sum(`${operation}:SUCCESS`),
    refused: sum(`${operation}:REFUSED`),
    unknown: sum(`${operation}:UNKNOWN`),
    durations: Array.from({ length: durationBoundsMs.length + 1 }, (_, index) =>
      sum(`${operation}:d${index}`),
    ),
  })
  return { at: at.toISOString(), debit: of('debit'), credit: of('credit'), rollback: of('rollback') }
}
