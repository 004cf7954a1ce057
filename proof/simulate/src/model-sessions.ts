import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import type {
  createSessionsStore,
  SessionDocument,
  SessionsStore,
} from '@pitboss/rounds/storage/sessions-store'
import type { Machine } from './machine.ts'
import { notSimulated } from './not-simulated.ts'

type OpenSession = Parameters<typeof createSessionsStore>[0]['open']

export type ModelSessions = {
  readonly table: ReadonlyMap<string, SessionDocument>
  storeOf(machine: Machine, open: OpenSession): SessionsStore
  /** Opens a session before the run. */
  give(session: SessionDocument): void
}

/**
 * The collection of sessions, with the promises of storage/sessions-store.ts. Finding one takes no step, for
 * the sake of speed: every stake does that.
 */
export function createModelSessions(): ModelSessions {
  const table = new Map<string, SessionDocument>()
  const ofPlayer = (scope: Scope, playerId: string) =>
    [...table.values()].filter((one) => one.scope === scopeKey(scope) && one.playerId === playerId)
  const change = (session: SessionDocument, changes: Partial<SessionDocument>): SessionDocument => {
    const changed = { ...session, ...changes, version: session.version + 1 }
    table.set(changed._id, changed)
    return changed
  }

  return {
    table,
    give: (session) => void table.set(session._id, session),
    storeOf(machine, open) {
      const own = (scope: Scope, sessionId: string) => {
        const found = table.get(sessionId)
        return found?.scope === scopeKey(scope) ? found : null
      }
      return {
        async insert(session, event) {
          if (await open(session, event)) return { ...session, version: 1 }
          const present = table.get(session._id)
          if (present === undefined) throw new Error(`session ${session._id} is not there`)
          return present
        },
        show: (session) =>
          machine.io('insert session', () => {
            if (!table.has(session._id)) table.set(session._id, { ...session, version: 1 })
          }),
        find: async (scope, sessionId) => own(scope, sessionId),
        close: (scope, sessionId, now) =>
          machine.io('close session', () => {
            const found = own(scope, sessionId)
            return found === null || found.closedAt !== null ? found : change(found, { closedAt: now })
          }),
        async stopAll(scope, playerId, stop, now) {
          await machine.io('stop sessions', () => {
            for (const one of ofPlayer(scope, playerId)) {
              if (one.closedAt === null && one.expiresAt > now) change(one, { closedAt: now, stop })
            }
          })
          await machine.io('move ends of stops', () => {
            for (const one of ofPlayer(scope, playerId)) {
              if (one.stop?.id === stop.id && one.stop.endsAt < stop.endsAt) change(one, { stop })
            }
          })
        },
        forgetStop: (scope, playerId, stopId) =>
          machine.io('forget stop', () => {
            for (const { stop, ...one } of ofPlayer(scope, playerId)) {
              if (stop?.id === stopId) table.set(one._id, { ...one, version: one.version + 1 })
            }
          }),
        markLimited: (scope, playerId, now) =>
          machine.io('mark limited', () => {
            for (const one of ofPlayer(scope, playerId)) {
              if (one.closedAt === null && one.expiresAt > now) change(one, { limited: true })
            }
          }),
        timesOf: (scope, playerId, from) =>
          machine.io('find session times', () =>
            ofPlayer(scope, playerId).filter(({ createdAt }) => createdAt >= from),
          ),
        keepRealityCheck: (scope, sessionId, now) =>
          machine.io('keep reality check', () => {
            const found = own(scope, sessionId)
            if (found === null || found.closedAt !== null) return null
            const { realityCheckedAt = now } = found
            return change(found, { realityCheckedAt: realityCheckedAt > now ? realityCheckedAt : now })
          }),
        list: notSimulated,
        eraseDetails: notSimulated,
        countDetails: notSimulated,
        currenciesInUse: notSimulated,
      }
    },
  }
}
