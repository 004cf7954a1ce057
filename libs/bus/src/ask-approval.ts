import { isDeepStrictEqual } from 'node:util'
import type { ActedBy } from '@pitboss/contracts/audit'
import {
  type ApprovedBy,
  needApproval,
  type NeedApproval,
  showApproved,
} from '@pitboss/contracts/calls/approvals'
import type { GraveOrder } from '@pitboss/contracts/objects/approval'
import { approvalNeeded, ServiceError } from '@pitboss/errors/service-error'
import type { Bus } from './connect-bus.ts'
import type { HandlerContext } from './serve-calls.ts'

/**
 * @param context of the request that the person made, whose token goes with the question
 * @returns the author of the act, with the approval that permits it
 */
export type AskApproval = (act: NeedApproval, context: HandlerContext) => Promise<ActedBy>

/**
 * Asks auth whether a person's act needs a second person, before it is done.
 * @throws ServiceError APPROVAL_NEEDED when it waits for one now; CONFLICT when another act on the object
 * does; FORBIDDEN for a key pair; SERVICE_UNAVAILABLE
 */
export function createAskApproval({
  bus,
  service,
}: {
  bus: Pick<Bus, 'call'>
  service: keyof typeof needApproval
}): AskApproval {
  return async (act, context) => {
    const { senderToken } = context
    const token = senderToken === undefined ? {} : { token: senderToken }
    const { approval, given } = await bus.call(needApproval[service], act, { ...context, ...token })
    if (approval !== null) throw approvalNeeded(approval.approval_id, approval.expires_at)
    return given === undefined ? act.by : { ...act.by, approval: given }
  }
}

/**
 * Requires that auth knows an approval as it was named: this order, seen so, by these people.
 * @throws ServiceError FORBIDDEN for what nobody has approved; SERVICE_UNAVAILABLE
 */
export async function requireApproved(
  { order, seen, by }: { order: GraveOrder; seen: string; by: ApprovedBy },
  { bus, context }: { bus: Pick<Bus, 'call'>; context: HandlerContext },
): Promise<void> {
  const asked = { operator_id: by.operator_id ?? '', approval_id: by.approval.approval_id }
  const known = await bus.call(showApproved, asked, context).catch((error: unknown) => {
    if (error instanceof ServiceError && error.code === 'NOT_FOUND') return null
    throw error
  })
  if (known !== null && isDeepStrictEqual({ order, seen, by }, { ...known })) return
  throw new ServiceError('FORBIDDEN', { message: 'Nobody has approved this.' })
}
