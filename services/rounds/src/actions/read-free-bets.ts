import type { Caller } from '@pitboss/contracts/caller'
import { grantId as grantIdSchema } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { grantStatusAt } from '../rules/grant-status.ts'
import type { GrantDocument, GrantFilters, GrantsStore } from '../storage/grants-store.ts'
import { type Page, type PageQuery, readPage, readWindow } from './read-page.ts'

type ListQuery = PageQuery & {
  player_id?: string | undefined
  game?: string | undefined
  status?: GrantFilters['status']
  from?: string | undefined
  to?: string | undefined
}

export type ReadFreeBets = ReturnType<typeof createReadFreeBets>

/** Creates the reads of grants, and their cancellation. Source: docs/contract.md, section 4, "Free bets". */
export function createReadFreeBets({ grants, cursors }: { grants: GrantsStore; cursors: CursorCodec }) {
  return { find, list, cancel }

  /** @throws ServiceError NOT_FOUND */
  async function find({ scope }: Caller, grantId: string): Promise<GrantDocument> {
    const grant = await grants.find(scope, grantId)
    if (grant === null) throw new ServiceError('NOT_FOUND')
    return grant
  }

  async function list(
    { scope }: Caller,
    { limit, cursor, ...filters }: ListQuery,
    now: Date,
  ): Promise<Page<GrantDocument>> {
    const { player_id: playerId, game, status } = filters
    return readPage({
      cursors,
      binding: { list: 'free-bets', scope, filters },
      query: { limit, cursor },
      position: grantIdSchema,
      read: (before, max) =>
        grants.list(scope, { playerId, game, status, ...readWindow(filters) }, { before, max, now }),
      positionOf: ({ _id }) => _id,
    })
  }

  /**
   * Cancels the rest of a grant; repeating it changes nothing.
   * @throws ServiceError NOT_FOUND, CONFLICT
   */
  async function cancel(caller: Caller, grantId: string, now: Date): Promise<GrantDocument> {
    const cancelled = await grants.cancel(caller.scope, grantId, now)
    const grant = cancelled ?? (await find(caller, grantId))
    const status = grantStatusAt(grant, now)
    if (status === 'CANCELLED') return grant
    throw new ServiceError('CONFLICT', {
      message: `The grant is ${status.toLowerCase()}; nothing is left to cancel.`,
    })
  }
}
