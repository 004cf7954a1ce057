import { roundMovementsMax } from '@pitboss/contracts/calls/wallet-ops'
import type { WalletContext } from '../context.ts'
import { toEndEvent } from '../records/render-movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'

type Ended = { readonly document: MovementDocument } & NonNullable<ReturnType<typeof toEndEvent>>

/** The movements of a round whose ends have events, oldest first. Source: docs/runbook.md. */
export async function listEnds({ lists }: Pick<WalletContext, 'lists'>, roundId: string): Promise<Ended[]> {
  const documents = await lists.ofRound(roundId, roundMovementsMax)
  return documents.flatMap((document) => {
    const told = toEndEvent(document)
    return told === null ? [] : [{ document, ...told }]
  })
}

/**
 * Makes and publishes these events of a round from its movements, under ids that follow from them.
 * @returns the ids of those that the records call for
 */
export async function republishEnds(
  context: Pick<WalletContext, 'lists' | 'movements'>,
  roundId: string,
  eventIds: readonly string[],
  dryRun: boolean,
): Promise<string[]> {
  const wanted = new Set(eventIds)
  const chosen = (await listEnds(context, roundId)).filter(({ entry }) => wanted.has(entry.id))
  if (!dryRun) for (const { document, entry } of chosen) await context.movements.republish(document, entry)
  return chosen.map(({ entry }) => entry.id)
}
