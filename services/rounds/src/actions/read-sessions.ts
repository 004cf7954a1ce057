import { type Caller, lookupScopes } from '@pitboss/contracts/caller'
import { sessionId as sessionIdSchema } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { SessionDocument, SessionFilters, SessionsStore } from '../storage/sessions-store.ts'
import { type Page, type PageQuery, readPage, readWindow } from './read-page.ts'

type ListQuery = PageQuery & {
  player_id?: string | undefined
  status?: SessionFilters['status']
  from?: string | undefined
  to?: string | undefined
}

export type ReadSessions = ReturnType<typeof createReadSessions>

/** Creates the reads of sessions by operators. Source: docs/contract.md, sections 4 and 11. */
export function createReadSessions({
  sessions,
  cursors,
}: {
  sessions: Pick<SessionsStore, 'find' | 'list' | 'currenciesInUse'>
  cursors: CursorCodec
}) {
  return { find, list, currenciesInUse: sessions.currenciesInUse }

  /** @throws ServiceError SESSION_NOT_FOUND */
  async function find(caller: Caller, sessionId: string): Promise<SessionDocument> {
    for (const scope of lookupScopes(caller)) {
      const session = await sessions.find(scope, sessionId)
      if (session !== null) return session
    }
    throw new ServiceError('SESSION_NOT_FOUND')
  }

  async function list(
    { scope }: Caller,
    { limit, cursor, ...filters }: ListQuery,
    now: Date,
  ): Promise<Page<SessionDocument>> {
    const { player_id: playerId, status } = filters
    return readPage({
      cursors,
      binding: { list: 'sessions', scope, filters },
      query: { limit, cursor },
      position: sessionIdSchema,
      read: (before, max) =>
        sessions.list(scope, { playerId, status, ...readWindow(filters) }, { before, max, now }),
      positionOf: ({ _id }) => _id,
    })
  }
}
