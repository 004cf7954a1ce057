import type { AuditEntry } from '@pitboss/contracts/audit'
import { changeBetween } from '@pitboss/storage/journal/change-document'
import type { Claim, Decided } from '@pitboss/storage/journal/journal'
import { claimKey } from '@pitboss/storage/journal/journal-keys'
import type { OutboxEntry } from '@pitboss/storage/outbox-entry'
import type { LookReason } from '../rules/flags.ts'
import type { MovementState } from '../rules/movement.ts'
import type { AttemptRecord, MovementDocument } from './movement-document.ts'
import type { MoneyFact, RoundMoney } from './round-money.ts'

export type AlsoChanged = { readonly document: MovementDocument; readonly state: MovementState }

export type MovementWrite = {
  readonly state: MovementState
  readonly events: readonly OutboxEntry[]
  readonly attempt: AttemptRecord | null
  readonly audit?: AuditEntry | null
  readonly look?: LookReason | null
  /** Changed in the same entry. */
  readonly also?: AlsoChanged | null
}

/** The claim of a movement's id, which is unique per operator and environment. */
export function claimOf(id: string): Claim {
  const [operatorId = '', environment = ''] = id.split('/')
  return { key: claimKey('t', [operatorId, environment], transactionIdIn(id)) }
}

/** The first entry of a round whose movements an earlier build has stored; null when it has stored none. */
export function firstEntryOf(movements: readonly MovementDocument[]): Decided<MoneyFact> | null {
  const [first, ...others] = movements.map((base): MoneyFact => ({ base }))
  if (first === undefined) return null
  // Nobody else has the ids: a movement is made after a look for one of an earlier build.
  return { facts: [first, ...others], claims: movements.map(({ _id }) => claimOf(_id)) }
}

export function transactionIdIn(id: string): string {
  return id.split('/').slice(2).join('/')
}

export function isStale(money: RoundMoney, { transactionId, n }: MovementDocument): boolean {
  return money.get(transactionId)?.n !== n
}

/** The change of the other movement of an entry, which has no event and no wallet call of its own. */
export function alsoOf(money: RoundMoney, { document, state }: AlsoChanged): MoneyFact {
  const { transactionId } = document
  const stored = money.get(transactionId) ?? document
  return { of: transactionId, ...changeBetween(stored, { ...stored, ...state }) }
}

export function decidedOf(
  stored: MovementDocument,
  read: MovementDocument,
  { state, events, attempt: made, audit = null, look = null }: MovementWrite,
): Decided<MoneyFact> {
  const attempt = made === null ? null : { ...made, storedAt: state.updatedAt }
  const { n, w, attempts, lookFor } = stored
  const after: MovementDocument = {
    ...stored,
    ...state,
    ...{ n, w, attempts },
    ...(lookFor === undefined ? {} : { lookFor }),
    // A wait is shortened in memory: unless the step has set one, the stored one stays.
    ...(state.dueAt === read.dueAt ? { dueAt: stored.dueAt } : {}),
    ...(attempt === null ? {} : { attemptedAt: attempt.storedAt }),
  }
  const push = {
    ...(attempt === null ? {} : { attempts: [attempt] }),
    ...(look === null ? {} : { lookFor: [look] }),
  }
  const pushed = Object.keys(push).length === 0 ? {} : { push }
  return {
    facts: [{ of: stored.transactionId, ...changeBetween(stored, after), ...pushed }],
    ...(events.length === 0 ? {} : { events }),
    ...(audit === null ? {} : { audit }),
  }
}
