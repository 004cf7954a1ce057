import { needApproval, type NeedApproval } from '@pitboss/contracts/calls/approvals'
import { approvalNeeded } from '@pitboss/errors/service-error'
import type { Bus } from './connect-bus.ts'

export type AskApproval = (act: NeedApproval) => Promise<void>

/**
 * Asks auth whether a person's act needs a second person, before it is done.
 * @throws ServiceError APPROVAL_NEEDED when it waits for one now; CONFLICT when another act on the object
 * does; FORBIDDEN for a key pair; SERVICE_UNAVAILABLE
 */
export function createAskApproval({ bus }: { bus: Pick<Bus, 'call'> }): AskApproval {
  return async (act) => {
    const { approval } = await bus.call(needApproval, act)
    if (approval !== null) throw approvalNeeded(approval.approval_id, approval.expires_at)
  }
}
