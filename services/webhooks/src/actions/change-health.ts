import { createMailbox, type Mailbox } from '@pitboss/runtime/mailbox'
import type { EndpointHealth } from '../rules/endpoint-health.ts'
import type { EndpointDocument } from '../storage/collections.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'

type Change = (endpoint: EndpointDocument) => EndpointHealth
type Group = { readonly changes: Change[]; readonly done: ReturnType<typeof writeHealth> }

/** Changes of health that wait for the one that is being written. */
export type HealthChanges = { readonly inTurn: Mailbox; readonly waiting: Map<string, Group> }

export function newHealthChanges(): HealthChanges {
  return { inTurn: createMailbox(), waiting: new Map() }
}

/** Changes the health of an endpoint, one write at a time for all that wait. Null for an unknown endpoint. */
export async function changeHealth(
  { endpoints, memory }: { endpoints: EndpointStore; memory: { healthChanges: HealthChanges } },
  known: EndpointDocument,
  change: Change,
) {
  const { inTurn, waiting } = memory.healthChanges
  const { _id } = known
  const changes = waiting.get(_id)?.changes ?? []
  const index = changes.push(change) - 1
  const group = waiting.get(_id) ?? {
    changes,
    done: inTurn(_id, () => {
      waiting.delete(_id)
      return writeHealth(endpoints, known, changes)
    }),
  }
  waiting.set(_id, group)
  return (await group.done)[index] ?? null
}

/** @returns the endpoint afterwards with its health after each change */
async function writeHealth(endpoints: EndpointStore, known: EndpointDocument, changes: readonly Change[]) {
  let healths: EndpointHealth[] = []
  const decide = (current: EndpointDocument) => {
    healths = []
    let { health } = current
    for (const change of changes) healths.push((health = change({ ...current, health })))
    return { $set: { health } }
  }
  const endpoint = await endpoints.change(known, known._id, decide, known)
  return endpoint === null ? [] : healths.map((health) => ({ endpoint, health }))
}
