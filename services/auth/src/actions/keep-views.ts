import type { ActedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import type { viewCreateSchema } from '@pitboss/contracts/objects/account'
import { conflict, ServiceError } from '@pitboss/errors/service-error'
import { createCap } from '@pitboss/runtime/cap'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import type { z } from 'zod'
import { toPublicView } from '../records/account-view.ts'
import { viewsMax } from '../rules/account-rules.ts'
import type { AuthDeps } from './deps.ts'

/** Saves views of lists and removes them. Source: docs/contract.md, section 3, "View". */
export function createKeepViews({ stores, audit, clock, newId }: AuthDeps) {
  const { views, idempotency } = stores
  const cap = createCap({
    count: (account) => views.count(account),
    max: viewsMax,
    message: `An account has at most ${viewsMax} views.`,
  })
  return {
    /**
     * Saves a view once for each Idempotency-Key.
     * @throws ServiceError CONFLICT for the 201st view, or a name that its page has already
     */
    async create(caller: Caller, body: z.infer<typeof viewCreateSchema>, by: ActedBy) {
      const now = clock.now()
      const makeId = () => newId('viw')
      const claim = await idempotency.claim(caller, { list: 'views', body, newId: makeId, now })
      const { operatorId } = caller.scope
      const madeBy = { userId: by.actor.id, email: by.actor.name }
      const view = { _id: claim.objectId, operatorId, ...body, madeBy, createdAt: now }
      const object = { type: 'view', id: view._id }
      const change = { act: 'view.create', object, before: null, after: toPublicView(view) }
      const stored = await cap.make(
        { operatorId },
        async () => (claim.fresh ? null : views.find(caller.scope, claim.objectId)),
        () => views.insert({ ...view, ...auditedInsert(audit.entry(by, change)) }),
      )
      if (stored === null) throw conflict('The page has a view of this name already.')
      return stored
    },

    /**
     * Removes a view: one's own, and each one as OWNER or ADMIN.
     * @throws ServiceError NOT_FOUND, FORBIDDEN
     */
    async remove({ scope, actor }: Caller, viewId: string, by: ActedBy): Promise<void> {
      const view = await views.find(scope, viewId)
      if (view === null) throw new ServiceError('NOT_FOUND')
      const mayAny = actor.kind === 'user' && (actor.role === 'OWNER' || actor.role === 'ADMIN')
      if (!mayAny && view.madeBy.userId !== by.actor.id) {
        const message = `This view is ${view.madeBy.email}'s; an OWNER or ADMIN can remove it, too.`
        throw new ServiceError('FORBIDDEN', { message })
      }
      const object = { type: 'view', id: viewId }
      const change = { act: 'view.delete', object, before: toPublicView(view), after: null }
      if (!(await views.remove(scope, viewId, audit.entry(by, change)))) throw new ServiceError('NOT_FOUND')
    },
  }
}
