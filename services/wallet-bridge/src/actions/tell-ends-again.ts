import { roundMovementsMax } from '@pitboss/contracts/calls/wallet-ops'
import { toEndEvent } from '../records/render-movement.ts'
import type { MovementLists } from '../storage/movement-lists.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { MovementStore } from '../storage/movement-store.ts'

type Ended = { readonly document: MovementDocument } & NonNullable<ReturnType<typeof toEndEvent>>

export type TellEndsAgain = ReturnType<typeof createTellEndsAgain>

/** Creates the orders of operations about the events of ended movements. Source: docs/runbook.md. */
export function createTellEndsAgain({
  lists,
  movements,
}: {
  lists: Pick<MovementLists, 'ofRound'>
  movements: Pick<MovementStore, 'republish'>
}) {
  /** The movements of a round whose ends have events, oldest first. */
  async function list(roundId: string): Promise<Ended[]> {
    const documents = await lists.ofRound(roundId, roundMovementsMax)
    return documents.flatMap((document) => {
      const told = toEndEvent(document)
      return told === null ? [] : [{ document, ...told }]
    })
  }

  /**
   * Makes these events of a round from the records of its movements and publishes them. Their ids follow from
   * the movements, so that repeating this, or an original that comes late, tells nothing twice.
   * @returns the ids of those that the records call for
   */
  async function again(roundId: string, eventIds: readonly string[], dryRun: boolean): Promise<string[]> {
    const wanted = new Set(eventIds)
    const chosen = (await list(roundId)).filter(({ entry }) => wanted.has(entry.id))
    if (!dryRun) for (const { document, entry } of chosen) await movements.republish(document, entry)
    return chosen.map(({ entry }) => entry.id)
  }

  return { list, again }
}
