import type { Scope } from '@pitboss/contracts/caller'
import { durationBoundsMs } from '@pitboss/contracts/objects/series'
import { toAccountMode } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { type FigureFact, storedFacts } from '@pitboss/storage/fold-figures'
import { readSeries, type SeriesQuery } from '@pitboss/storage/read-series'
import type { WalletContext } from '../context.ts'
import { countsOfCall, walletPointOf } from '../rules/call-figures.ts'
import type { MovementLists } from '../storage/movement-lists.ts'

/** The one subject of an account's environment. */
const subject = 'wallet'

/** Reads the wallet calls that figures count: every call of a movement, lost ones included. */
export async function* readCalls(
  { lists }: { lists: Pick<MovementLists, 'calledSince'> },
  from: Date,
): AsyncGenerator<FigureFact> {
  for await (const { operatorId, environment, attempts } of lists.calledSince(from))
    yield* storedFacts({ scope: { operatorId, environment }, subject }, attempts, countsOfCall)
}

/** @throws ServiceError NOT_FOUND without a wallet; VALIDATION_ERROR as `seriesWindow` does */
export async function readCallSeries(
  { wallets, figures, clock }: Pick<WalletContext, 'wallets' | 'figures' | 'clock'>,
  scope: Scope,
  query: SeriesQuery,
) {
  if ((await wallets.find(scope)) === null) throw new ServiceError('NOT_FOUND')
  const series = await readSeries({
    figures,
    clock,
    target: { scope, subject },
    query,
    pointOf: walletPointOf,
  })
  return {
    environment: toAccountMode(scope.environment),
    ...series,
    duration_bounds_ms: [...durationBoundsMs],
  }
}
