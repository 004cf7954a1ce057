import { conflict } from '@pitboss/errors/service-error'
import { createMailbox } from './mailbox.ts'

/** An account, or one of its environments. */
type Owner = { readonly operatorId: string; readonly environment?: string }

export type Cap<Of extends Owner = Owner> = ReturnType<typeof createCap<Of>>

/**
 * Bounds how many objects of one kind an owner has. They are made one at a time for each owner in this
 * process, so that requests at once do not pass the bound together; each other replica may go one beyond it.
 * @param count the owner's objects; may stop at `max`
 */
export function createCap<Of extends Owner = Owner>({
  count,
  max,
  message,
}: {
  count: (owner: Of) => Promise<number>
  max: number
  message: string
}) {
  const inTurn = createMailbox()

  return {
    /**
     * Makes an object where there is room.
     * @param find what an equal request has made, which needs no room again; null for nothing
     * @throws ServiceError CONFLICT when the owner has all that it may have
     */
    make<Made>(owner: Of, find: () => Promise<Made | null>, create: () => Promise<Made>): Promise<Made> {
      const { operatorId, environment = '' } = owner
      return inTurn(`${operatorId}/${environment}`, async () => {
        const present = await find()
        if (present !== null) return present
        if ((await count(owner)) >= max) throw conflict(message)
        return create()
      })
    },
  }
}
