import type { Scope } from '@pitboss/contracts/caller'
import { bucketOf, durationBoundsMs, sumsOf, type WalletPoint } from '@pitboss/contracts/objects/series'
import { toAccountMode } from '@pitboss/contracts/primitives'
import { type FigureFact, storedFacts } from '@pitboss/storage/fold-figures'
import { readSeries, type SeriesQuery } from '@pitboss/storage/read-series'
import type { WalletContext } from '../context.ts'
import type { WalletOperation } from '../rules/movement.ts'
import type { AttemptRecord } from '../storage/movement-document.ts'
import type { MovementLists } from '../storage/movement-lists.ts'
import { findWallet } from './operator-wallets.ts'

/** The one subject of an account's environment. */
const subject = 'wallet'

type CallSource = { readonly lists: Pick<MovementLists, 'calledSince'> }

/** Reads the wallet calls that figures count: every call of a movement, lost ones included. */
export async function* readCalls({ lists }: CallSource, from: Date): AsyncGenerator<FigureFact> {
  for await (const { operatorId, environment, attempts } of lists.calledSince(from))
    yield* storedFacts({ scope: { operatorId, environment }, subject }, attempts, countsOfCall)
}

/** @throws ServiceError NOT_FOUND without a wallet; VALIDATION_ERROR as `seriesWindow` does */
export async function readCallSeries(context: WalletContext, scope: Scope, query: SeriesQuery) {
  const { figures, clock } = context
  await findWallet(context, scope)
  const target = { scope, subject }
  const series = await readSeries({ figures, clock, target, query, pointOf: walletPointOf })
  const environment = toAccountMode(scope.environment)
  return { environment, ...series, duration_bounds_ms: [...durationBoundsMs] }
}

type CountedCall = Pick<AttemptRecord, 'operation' | 'classification' | 'latencyMs'>

/** The counters that a call raises by one: its verdict, and the bucket of its duration when it is known. */
function countsOfCall({ operation, classification, latencyMs }: CountedCall): string[] {
  const duration = latencyMs === null ? [] : [`${operation}:d${bucketOf(durationBoundsMs, latencyMs)}`]
  return [`${operation}:${classification}`, ...duration]
}

function walletPointOf(at: Date, minutes: Parameters<typeof sumsOf>[0]): WalletPoint {
  const { sum, buckets } = sumsOf(minutes)
  const of = (operation: WalletOperation) => ({
    success: sum(`${operation}:SUCCESS`),
    refused: sum(`${operation}:REFUSED`),
    unknown: sum(`${operation}:UNKNOWN`),
    durations: buckets(`${operation}:d`, durationBoundsMs),
  })
  return { at: at.toISOString(), debit: of('debit'), credit: of('credit'), rollback: of('rollback') }
}
