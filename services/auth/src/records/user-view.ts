import type { Role } from '@pitboss/contracts/caller'
import type { User } from '@pitboss/contracts/objects/user'
import type { UserDocument } from '../storage/people-store.ts'

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
    created_at: user.createdAt.toISOString(),
    last_login_at: user.lastLoginAt?.toISOString() ?? null,
  }
}
