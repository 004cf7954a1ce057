import type { AuditActor } from '@pitboss/contracts/audit'
import type { Role } from '@pitboss/contracts/caller'
import type { ApprovalStatus, GraveOrder } from '@pitboss/contracts/objects/approval'
import { conflict, ServiceError } from '@pitboss/errors/service-error'

/** Time within which a second person may approve. Source: docs/contract.md, section 3, "Approval". */
export const approvalMs = 24 * 60 * 60 * 1000
/** Owners and admins without whom nothing could ever be approved. */
export const approversMin = 2

/** Who may do an act, and so who may ask for it. Source: docs/contract.md, section 2. */
const askers: Readonly<Record<GraveOrder['act'], readonly Role[]>> = {
  'credential.create': ['OWNER', 'ADMIN'],
  'credential.change': ['OWNER', 'ADMIN'],
  'credential.delete': ['OWNER', 'ADMIN', 'DEVELOPER'],
  'game.change': ['OWNER', 'ADMIN'],
  'wallet.put': ['OWNER', 'ADMIN', 'DEVELOPER'],
  'wallet.rotate-secret': ['OWNER', 'ADMIN', 'DEVELOPER'],
  'endpoint.create': ['OWNER', 'ADMIN', 'DEVELOPER'],
  'endpoint.change': ['OWNER', 'ADMIN', 'DEVELOPER'],
  'user.create': ['OWNER'],
  'user.change': ['OWNER'],
  'business.change': ['OWNER', 'ADMIN'],
}

export function mayAskFor(order: GraveOrder, role: Role): boolean {
  if (order.act === 'business.change' && order.second_person === false) return role === 'OWNER'
  return askers[order.act].includes(role)
}

/** Whether a person of this role may approve what another one asks for. */
export function mayApprove(role: Role): boolean {
  return role === 'OWNER' || role === 'ADMIN'
}

/** @throws ServiceError FORBIDDEN for a key pair, which is no person */
export function requirePerson({ kind }: AuditActor): void {
  if (kind === 'user') return
  const message = 'In this account a person asks for this in the dashboard, and a second one approves it.'
  throw new ServiceError('FORBIDDEN', { message })
}

/** @throws ServiceError FORBIDDEN for a person who was made less than `ageMs` milliseconds ago */
export function requireAge({ createdAt }: { readonly createdAt: Date }, now: Date, ageMs: number): void {
  const from = new Date(createdAt.getTime() + ageMs)
  if (from <= now) return
  const message = `Who was added a short time ago approves nothing yet; you may from ${from.toISOString()} on.`
  throw new ServiceError('FORBIDDEN', { message })
}

/** @throws ServiceError FORBIDDEN for the person who asked */
export function requireSecondPerson(askedBy: AuditActor, userId: string): void {
  if (askedBy.id !== userId) return
  throw new ServiceError('FORBIDDEN', { message: 'Who asked cannot approve it; somebody else has to.' })
}

const ends: Readonly<Record<ApprovalStatus, string>> = {
  PENDING: 'It waits for somebody.',
  APPROVED: 'It has been approved.',
  DONE: 'It has been approved and done.',
  REJECTED: 'It has been rejected.',
  EXPIRED: 'Nobody approved it within 24 hours; ask again.',
  STALE: 'What it was asked for has changed since; ask again.',
  REFUSED: 'It has been approved and was refused.',
}

/** The CONFLICT of who decides on what is decided. */
export function alreadyEnded(status: ApprovalStatus): ServiceError {
  return conflict(ends[status])
}
