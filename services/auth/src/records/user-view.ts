import type { Role } from '@pitboss/contracts/caller'
import type { User } from '@pitboss/contracts/objects/user'
import type { UserDocument, UserSession } from '../storage/people-store.ts'

/** Gives the role in force. The account's list of owners decides who is one, so that the last owner stays. */
export function roleOf(user: UserDocument, owners: readonly string[]): Role {
  if (owners.includes(user._id)) return 'OWNER'
  return user.role === 'OWNER' && user.status === 'ACTIVE' ? 'ADMIN' : user.role
}

/** The public record of a person. Source: docs/contract.md, section 11. */
export function toPublicUser(user: UserDocument, owners: readonly string[]): User {
  return {
    user_id: user._id,
    email: user.email,
    name: user.name,
    role: roleOf(user, owners),
    status: user.status === 'INVITED' ? 'INVITED' : 'ACTIVE',
    totp_enabled: user.totp?.confirmed ?? false,
    password_change_required: user.mustChangePassword ?? false,
    created_at: user.createdAt.toISOString(),
    last_login_at: user.lastLoginAt?.toISOString() ?? null,
  }
}

/** The public record of a session; `current` is the one that asks. Source: docs/contract.md, section 12. */
export function toPublicSession(session: UserSession, current: string | undefined) {
  return {
    session_id: session.id,
    created_at: session.createdAt.toISOString(),
    last_used_at: session.lastUsedAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
    client_address: session.clientAddress,
    user_agent: session.userAgent,
    current: session.id === current,
  }
}
