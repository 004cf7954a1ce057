import type { Role } from '@pitboss/contracts/caller'
import type { User } from '@pitboss/contracts/objects/user'
import type { UserDocument } from '../storage/documents.ts'

/** The role in force: whether an active person is an owner is the account's word, so that the last one can't be lost. */
export function roleOf(user: UserDocument, owners: readonly string[]): Role {
  if (owners.includes(user._id)) return 'OWNER'
  return user.role === 'OWNER' && user.status === 'ACTIVE' ? 'ADMIN' : user.role
}

/** The public record. Source: contract section 11. */
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
