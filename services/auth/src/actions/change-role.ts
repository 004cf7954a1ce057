import type { Role, Scope } from '@pitboss/contracts/caller'
import type { User } from '@pitboss/contracts/objects/user'
import { ServiceError } from '@pitboss/errors/service-error'
import { roleOf, toPublicUser } from '../records/user-view.ts'
import type { AuthDeps } from './deps.ts'

/**
 * Changes roles and removes people; an account keeps at least one owner.
 * Source: docs/contract.md, section 11.
 */
export function createChangeRole({ stores, publishAccessChange }: AuthDeps) {
  const { operators, people } = stores

  const member = async (scope: Scope, userId: string) => {
    const user = await people.find(scope, userId)
    if (user === null) throw new ServiceError('NOT_FOUND')
    return user
  }

  /** Takes ownership from a person; one write decides between two requests that would leave no owner. */
  async function removeOwner(account: Pick<Scope, 'operatorId'>, userId: string): Promise<void> {
    const owners = await operators.owners(account)
    if (!owners.includes(userId)) return
    // A person who was removed while becoming an owner is still on the list and must not count.
    const others = owners.filter((id) => id !== userId)
    const active = await people.activeAmong(account, others)
    const inactive = others.filter((id) => !active.has(id))
    if (inactive.length > 0) await operators.removeInactiveOwners(account, inactive)
    const isRemoved = await operators.removeOwner(account, userId)
    if (!isRemoved && (await operators.owners(account)).includes(userId)) {
      throw new ServiceError('CONFLICT', { message: 'The last owner can be neither removed nor demoted.' })
    }
  }

  return {
    /** @throws ServiceError NOT_FOUND; CONFLICT for a demotion of the last owner */
    async change(scope: Scope, userId: string, role: Role): Promise<User> {
      const user = await member(scope, userId)
      if (role !== 'OWNER') await removeOwner(user, user._id)
      const changed = await people.setRole(user, user._id, role)
      if (changed === null) throw new ServiceError('NOT_FOUND')
      if (role === 'OWNER' && changed.status === 'ACTIVE') await operators.addOwner(user, user._id)
      await publishAccessChange.user(user._id)
      return toPublicUser(changed, await operators.owners(user))
    },

    /** @throws ServiceError NOT_FOUND; CONFLICT for the last owner */
    async remove(scope: Scope, userId: string): Promise<void> {
      const user = await member(scope, userId)
      if (roleOf(user, await operators.owners(user)) === 'OWNER') await removeOwner(user, user._id)
      await people.remove(user, user._id)
      await publishAccessChange.user(user._id)
    },
  }
}
