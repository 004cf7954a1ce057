import type { Caller, Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { toPublicUser } from '../records/user-view.ts'
import type { PageQuery } from '../storage/account.ts'
import type { UserDocument } from '../storage/people-store.ts'
import type { AuthDeps } from './deps.ts'

/** Finds people of an account. Source: docs/contract.md, section 11. */
export function createReadPeople({ stores }: AuthDeps) {
  const { operators, people } = stores
  return {
    /**
     * Finds the person who is signed in.
     * @throws ServiceError INVALID_CREDENTIALS when there is no such active person
     */
    async self({ actor, scope }: Caller): Promise<UserDocument> {
      const user = actor.kind === 'user' ? await people.active(scope, actor.user_id) : null
      if (user === null) throw new ServiceError('INVALID_CREDENTIALS')
      return user
    },

    toPublic: async (user: UserDocument) => toPublicUser(user, await operators.owners(user)),

    /** Lists people, newest first. */
    async list(scope: Scope, query: PageQuery) {
      const { rows, nextCursor } = await people.page(scope, query)
      const owners = await operators.owners(scope)
      return { data: rows.map((user) => toPublicUser(user, owners)), next_cursor: nextCursor }
    },
  }
}
