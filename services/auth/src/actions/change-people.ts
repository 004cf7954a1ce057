import type { ActedBy } from '@pitboss/contracts/audit'
import type { Caller, Role, Scope } from '@pitboss/contracts/caller'
import type { ApprovedBy } from '@pitboss/contracts/calls/approvals'
import type { acceptInvitation } from '@pitboss/contracts/calls/auth'
import type { inviteUser } from '@pitboss/contracts/endpoints/people'
import type { GraveOrder } from '@pitboss/contracts/objects/approval'
import { password as passwordSchema, type User } from '@pitboss/contracts/objects/user'
import { conflict, invalidField, ServiceError } from '@pitboss/errors/service-error'
import { createCap } from '@pitboss/runtime/cap'
import { auditedInsert } from '@pitboss/storage/audit-outbox'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { z } from 'zod'
import { toPublicUser } from '../records/user-view.ts'
import { actedByPerson } from '../rules/acted-by-person.ts'
import { approversMin, mayApprove } from '../rules/approvals.ts'
import { requireUncommonPassword } from '../rules/people-rules.ts'
import type { AccountScope, PageQuery } from '../storage/page.ts'
import type { UserDocument } from '../storage/people-store.ts'
import type { AuthDeps } from './deps.ts'
import { createNeedApproval } from './need-approval.ts'

const invitationMs = 72 * 60 * 60 * 1000

type AcceptRequest = z.infer<typeof acceptInvitation.request>
type NewUser = z.infer<typeof inviteUser.call.request>['body']

/**
 * Lists, adds and removes the people of an account and changes their roles. A person is added by a password
 * at once, or by an invitation of 72 h; an account keeps at least one owner.
 * Source: docs/contract.md, section 11.
 */
export function createChangePeople(deps: AuthDeps) {
  const { stores, publishAccessChange, audit, passwords, tokenHash, clock, newId, random, baseUrl, caps } =
    deps
  const { idempotency, operators, people } = stores
  const toPublic = async (user: UserDocument) => toPublicUser(user, await operators.owners(user))
  const { ask } = createNeedApproval(deps)
  const cap = createCap({
    count: (account) => people.count(account, caps.people),
    max: caps.people,
    message: `An account has at most ${caps.people} people; remove one first.`,
  })

  const entry = (by: ActedBy, act: string, before: User | null, after: User | null) =>
    audit.entry(by, { act, object: { type: 'user', id: (after ?? before)?.user_id ?? '' }, before, after })

  const member = async (scope: Scope, userId: string) => {
    const user = await people.find(scope, userId)
    if (user === null) throw new ServiceError('NOT_FOUND')
    return user
  }

  /** Takes ownership from a person; one write decides between two requests that would leave no owner. */
  async function removeOwner(account: AccountScope, userId: string): Promise<void> {
    const owners = await operators.owners(account)
    if (!owners.includes(userId)) return
    // A person who was removed while becoming an owner is still on the list and must not count.
    const others = owners.filter((id) => id !== userId)
    const active = await people.activeAmong(account, others)
    const inactive = others.filter((id) => !active.has(id))
    if (inactive.length > 0) await operators.removeInactiveOwners(account, inactive)
    const isRemoved = await operators.removeOwner(account, userId)
    if (!isRemoved && (await operators.owners(account)).includes(userId)) {
      throw conflict('The last owner can be neither removed nor demoted.')
    }
  }

  /** @throws ServiceError CONFLICT when fewer than two could approve grave acts without the person */
  async function requireApprovers({ operatorId, _id }: UserDocument): Promise<void> {
    const operator = await operators.find({ operatorId })
    if (operator?.secondPerson !== true) return
    if ((await people.countApprovers({ operatorId }, _id, approversMin)) >= approversMin) return
    const message =
      'Grave acts need a second person: the account keeps two active people who are OWNER or ADMIN.'
    throw conflict(message)
  }

  async function setRole(user: UserDocument, role: Role, by: ActedBy): Promise<User> {
    const before = await toPublic(user)
    if (mayApprove(before.role) && !mayApprove(role)) await requireApprovers(user)
    if (role !== 'OWNER') await removeOwner(user, user._id)
    const entryOfChange = entry(by, 'user.change', before, { ...before, role })
    const changed = await people.setRole(user, user._id, role, entryOfChange)
    if (changed === null) throw new ServiceError('NOT_FOUND')
    if (role === 'OWNER' && changed.status === 'ACTIVE') await operators.addOwner(user, user._id)
    await publishAccessChange.user(user._id)
    return toPublic(changed)
  }

  return {
    /** Lists people, newest first. */
    async list(scope: Scope, query: PageQuery) {
      const owners = await operators.owners(scope)
      const { rows, nextCursor } = await people.page(scope, query)
      return { rows: rows.map((user) => toPublicUser(user, owners)), nextCursor }
    },

    /**
     * Adds a person once for each Idempotency-Key. A person without a password gets an `invite_url`, which
     * only the first answer holds. To make an OWNER or ADMIN is a grave act.
     * @throws ServiceError CONFLICT for an e-mail address that the account has, and for an account with all
     * its people; VALIDATION_ERROR for a common password; APPROVAL_NEEDED where the account wants a second
     * person
     */
    async invite(caller: Caller, body: NewUser, by: ActedBy): Promise<User> {
      const now = clock.now()
      const { email, name, role, password } = body
      if (password !== undefined) await requireUncommonPassword(password, 'password')
      const claim = await idempotency.claim(caller, {
        list: 'users',
        // The key is kept with a quick hash of the body, which must not be one of the password.
        body: password === undefined ? body : { ...body, password: tokenHash.hash(password) },
        newId: () => newId('usr'),
        now,
      })
      const known = async () => {
        const user = claim.fresh ? null : await people.known(caller.scope, claim.objectId)
        return user && toPublic(user)
      }
      const { operatorId } = caller.scope
      return cap.make<User>({ operatorId }, known, async () => {
        const maker = mayApprove(role)
          ? await ask({
              ...{ by, order: { act: 'user.create', email: email.toLowerCase(), name, role }, seen: 'none' },
              ...{
                object: { type: 'user', id: email.toLowerCase() },
                before: null,
                after: { email, name, role },
              },
            })
          : by
        const token = Buffer.from(random(32)).toString('base64url')
        const lane = { account: operatorId }
        const invitation = { hash: tokenHash.hash(token), expiresAt: new Date(now.getTime() + invitationMs) }
        const user: UserDocument = {
          ...{
            _id: claim.objectId,
            operatorId,
            email: email.toLowerCase(),
            name,
            role,
          },
          ...(password === undefined
            ? { status: 'INVITED', passwordHash: null, invitation }
            : { status: 'ACTIVE', passwordHash: await passwords.hash(password, lane), invitation: null }),
          mustChangePassword: password !== undefined && body.change_password === true,
          ...{ totp: null, recoveryHashes: [], createdAt: now, lastLoginAt: null, accessPending: false },
        }
        const owners = user.status === 'ACTIVE' && role === 'OWNER' ? [user._id] : []
        const made = entry(maker, 'user.create', null, toPublicUser(user, owners))
        try {
          await people.insert({ ...user, ...auditedInsert(made) })
        } catch (error) {
          if (!isDuplicateKey(error)) throw error
          const first = await people.known(caller.scope, claim.objectId)
          if (first !== null) return toPublic(first)
          throw conflict('The account has a user with this e-mail address already.')
        }
        if (user.status === 'ACTIVE' && role === 'OWNER') await operators.addOwner(user, user._id)
        const added = await toPublic(user)
        if (user.invitation === null) return added
        return { ...added, invite_url: `${baseUrl}/dashboard/invitation#token=${token}` }
      })
    },

    /**
     * Makes an invited person active.
     * @throws ServiceError VALIDATION_ERROR at `password`; INVALID_CREDENTIALS for an unknown, expired or
     * used invitation
     */
    async accept({ token, password, clientAddress }: AcceptRequest, requestId: string): Promise<User> {
      const parsed = passwordSchema.safeParse(password)
      if (!parsed.success) throw invalidField('password', 'must have 12 to 128 characters')
      await requireUncommonPassword(parsed.data, 'password')
      const now = clock.now()
      const invitation = tokenHash.candidates(token)
      const invited = await people.byInvitation(invitation, now)
      if (invited === null) throw new ServiceError('INVALID_CREDENTIALS')
      const passwordHash = await passwords.hash(parsed.data, { account: invited.operatorId })
      const by = actedByPerson(invited, clientAddress ?? null, requestId)
      const before = await toPublic(invited)
      const accepted = entry(by, 'user.accept', before, { ...before, status: 'ACTIVE' })
      const user = await people.accept(invitation, passwordHash, now, accepted)
      if (user === null) throw new ServiceError('INVALID_CREDENTIALS')
      if (user.role === 'OWNER') await operators.addOwner(user, user._id)
      return toPublic(user)
    },

    /**
     * To make an OWNER or ADMIN is a grave act.
     * @throws ServiceError NOT_FOUND; CONFLICT for a demotion of the last owner, or the last second person;
     * APPROVAL_NEEDED where the account wants a second person
     */
    async changeRole(scope: Scope, userId: string, role: Role, by: ActedBy): Promise<User> {
      const user = await member(scope, userId)
      const before = await toPublic(user)
      if (isRaised(before.role, role))
        await ask({
          ...{ by, order: { act: 'user.change', user_id: userId, role }, seen: before.role },
          ...{ object: { type: 'user', id: userId }, before, after: { ...before, role } },
        })
      return setRole(user, role, by)
    },

    /** Raises a person's role once for an approval, from the one that was seen. */
    async changeRoleApproved(
      { user_id, role }: Extract<GraveOrder, { act: 'user.change' }>,
      seen: string,
      by: ApprovedBy,
    ): Promise<'done' | 'stale'> {
      const user = await people.find({ operatorId: by.operator_id ?? '' }, user_id)
      if (user === null) return 'stale'
      const present = (await toPublic(user)).role
      if (present === seen) await setRole(user, role, by)
      return present === seen || present === role ? 'done' : 'stale'
    },

    /** @throws ServiceError NOT_FOUND; CONFLICT for the last owner */
    async remove(scope: Scope, userId: string, by: ActedBy): Promise<void> {
      const user = await member(scope, userId)
      const before = await toPublic(user)
      if (mayApprove(before.role)) await requireApprovers(user)
      if (before.role === 'OWNER') await removeOwner(user, user._id)
      await people.remove(user, user._id, entry(by, 'user.remove', before, null))
      await publishAccessChange.user(user._id)
    },
  }
}

/** Whether a change makes an OWNER or ADMIN of a person who was less. */
function isRaised(before: Role, after: Role): boolean {
  return after !== before && (after === 'OWNER' || (after === 'ADMIN' && before !== 'OWNER'))
}
