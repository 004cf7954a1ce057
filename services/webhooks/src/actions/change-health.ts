import type { Scope } from '@pitboss/contracts/caller'
import { createMailbox } from '@pitboss/runtime/mailbox'
import type { EndpointHealth } from '../rules/endpoint-health.ts'
import type { EndpointDocument } from '../storage/collections.ts'
import type { Deps } from './deps.ts'

/** What an outcome makes of the health of its endpoint. */
type Change = (endpoint: EndpointDocument) => EndpointHealth

/** The endpoint afterwards, and its health after this very change. */
type Changed = { readonly endpoint: EndpointDocument; readonly health: EndpointHealth }

type Group = { readonly changes: Change[]; readonly done: Promise<readonly (Changed | null)[]> }

/**
 * Changes the health of an endpoint. Changes of one endpoint are written one after the other, since at once
 * they would lose to each other; all that wait meanwhile are one write.
 * @param known the endpoint as it was last read
 * @returns null for an unknown endpoint
 */
export type ChangeHealth = (known: EndpointDocument, change: Change) => Promise<Changed | null>

export function createChangeHealth({ endpoints }: Pick<Deps, 'endpoints'>): ChangeHealth {
  const inTurn = createMailbox()
  const waiting = new Map<string, Group>()

  async function write(known: EndpointDocument, changes: readonly Change[]): Promise<(Changed | null)[]> {
    const scope: Scope = { operatorId: known.operatorId, environment: known.environment }
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
    const endpoint = await endpoints.change(scope, known._id, decide, known)
    return changes.map((_, index) => {
      const health = healths[index]
      return endpoint === null || health === undefined ? null : { endpoint, health }
    })
  }

  return async function changeHealth(known, change) {
    const { _id } = known
    const changes = waiting.get(_id)?.changes ?? []
    const index = changes.push(change) - 1
    const group = waiting.get(_id) ?? {
      changes,
      done: inTurn(_id, () => {
        waiting.delete(_id)
        return write(known, changes)
      }),
    }
    waiting.set(_id, group)
    return (await group.done)[index] ?? null
  }
}
