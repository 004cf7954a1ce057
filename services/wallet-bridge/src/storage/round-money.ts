import type { AuditEntry } from '@pitboss/contracts/audit'
import { changeBetween, changeDocument, type DocumentChange } from '@pitboss/storage/journal/change-document'
import type { Claim, Decided, Entry } from '@pitboss/storage/journal/journal'
import { claimKey, entryNumber, streamKey } from '@pitboss/storage/journal/journal-keys'
import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import type { AttemptRecord, MovementDocument } from './movement-document.ts'
import { isLookReason, type LookReason } from '../rules/flags.ts'
import { hasWork, type MovementState } from '../rules/movement.ts'

/** What an entry of a round's money records; `of` is a transaction id. */
export type MoneyFact =
  | { readonly base: MovementDocument }
  | ({ readonly of: string } & DocumentChange)
  /** The events of an earlier build, which had not left its movements. */
  | { readonly sent: true }
  /** Its owner has died, and the entry's writer goes on with the round. */
  | { readonly adopted: true }

export type MoneyEntry = Entry<MoneyFact>

/** The movements of one round by transaction id, in the order of their making. */
export type RoundMoney = ReadonlyMap<string, MovementDocument>

export const noMoney: RoundMoney = new Map()

/** For how long an append is tried whose answer is lost. */
export const appendWithinMs = 10_000
/** Wallet calls of a movement that are stored, the latest ones. */
const attemptsKept = 200

export type RoundKey = Pick<MovementDocument, 'operatorId' | 'environment' | 'roundId'>

/** The key of a round's money: all movements of one round are one stream. */
export function moneyStream({ operatorId, environment, roundId }: RoundKey): string {
  return streamKey(operatorId, environment, roundId)
}

export function evolveMoney(money: RoundMoney, entry: MoneyEntry): RoundMoney {
  const shown = { n: entryNumber(entry._id), w: entry.w }
  const after = new Map(money)
  for (const fact of entry.f) {
    if ('base' in fact) after.set(fact.base.transactionId, { ...fact.base, ...shown })
    else if ('of' in fact) {
      const { of, ...change } = fact
      const before = after.get(of)
      if (before === undefined) continue
      // A change was made from two movements, so it makes one of another.
      const changed = changeDocument(before, change, { attempts: attemptsKept }) as MovementDocument
      after.set(of, { ...changed, ...shown })
    }
  }
  return after
}

export function moneyOf(entries: readonly MoneyEntry[]): RoundMoney {
  return entries.reduce(evolveMoney, noMoney)
}

/** By transaction id the instance that began the wallet call which is in flight. */
export function callersOf(entries: readonly MoneyEntry[]): ReadonlyMap<string, string> {
  const callers = new Map<string, string>()
  let money = noMoney
  for (const entry of entries) {
    const after = evolveMoney(money, entry)
    for (const [id, { call }] of after) {
      if (call === null) callers.delete(id)
      else if (money.get(id)?.call?.token !== call.token) callers.set(id, entry.o)
    }
    money = after
  }
  return callers
}

/** For which reasons a fact asks that flags are raised for its movement. */
export function looksOf(fact: MoneyFact): { transactionId: string; reasons: readonly LookReason[] }[] {
  if ('base' in fact) {
    const { transactionId, lookFor = [] } = fact.base
    return lookFor.length === 0 ? [] : [{ transactionId, reasons: lookFor }]
  }
  if (!('of' in fact)) return []
  const asked = fact.push?.lookFor
  return asked === undefined ? [] : [{ transactionId: fact.of, reasons: asked.filter(isLookReason) }]
}

export const isSettled = (money: RoundMoney): boolean => ![...money.values()].some(hasWork)

/** The other movement of the round whose wallet call is in flight; a round has one call at a time. */
export function callingBeside(money: RoundMoney, transactionId: string): MovementDocument | null {
  const isOther = (one: MovementDocument) => one.call !== null && one.transactionId !== transactionId
  return [...money.values()].find(isOther) ?? null
}

export type AlsoChanged = { readonly document: MovementDocument; readonly state: MovementState }

export type MovementWrite = {
  readonly state: MovementState
  readonly events: readonly RenderedEvent[]
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

export const transactionIdIn = (id: string): string => id.split('/').slice(2).join('/')

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
  step: MovementWrite,
): Decided<MoneyFact> {
  const { state, events, attempt: made, audit = null, look = null } = step
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
  const push = { ...(attempt && { attempts: [attempt] }), ...(look && { lookFor: [look] }) }
  const pushed = Object.keys(push).length === 0 ? {} : { push }
  return {
    facts: [{ of: stored.transactionId, ...changeBetween(stored, after), ...pushed }],
    ...(events.length === 0 ? {} : { events }),
    ...(audit === null ? {} : { audit }),
  }
}
