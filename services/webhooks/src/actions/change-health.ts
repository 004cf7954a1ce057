import { createMailbox, type Mailbox } from '@pitboss/runtime/mailbox'
import type { WebhooksContext } from '../context.ts'
import type { EndpointHealth } from '../rules/endpoint-health.ts'
import type { EndpointDocument } from '../storage/collections.ts'

type Change = (endpoint: EndpointDocument) => EndpointHealth

type Changed = { readonly endpoint: EndpointDocument; readonly health: EndpointHealth }

type Group = { readonly changes: Change[]; readonly done: Promise<readonly (Changed | null)[]> }

/** Changes of health that wait for the one that is being written. */
export type HealthChanges = { readonly inTurn: Mailbox; readonly waiting: Map<string, Group> }

export function newHealthChanges(): HealthChanges {
  return { inTurn: createMailbox(), waiting: new Map() }
}

/** Changes the health of an endpoint, one write at a time for all that wait. Null for an unknown endpoint. */
export async function changeHealth(
  { endpoints, memory }: Pick<WebhooksContext, 'endpoints'> & { memory: { healthChanges: HealthChanges } },
  known: EndpointDocument,
  change: Change,
): Promise<Changed | null> {
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

async function writeHealth(
  endpoints: WebhooksContext['endpoints'],
  known: EndpointDocument,
  changes: readonly Change[],
): Promise<(Changed | null)[]> {
  let healths: EndpointHealth[] = []
  const decide = (current: EndpointDocument) => {
    healths = []
    let { health } = current
    for (const change of changes) {
      health = change({ ...current, health })
      healths.push(health)
    }
    return { $set: { health } }
  }
  const endpoint = await endpoints.change(known, known._id, decide, known)
  return changes.map((_, index) => {
    const health = healths[index]
    return endpoint === null || health === undefined ? null : { endpoint, health }
  })
}
