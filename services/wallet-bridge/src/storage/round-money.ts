import { changeDocument, type DocumentChange } from '@pitboss/storage/journal/change-document'
import type { Entry } from '@pitboss/storage/journal/journal'
import { entryNumber, streamKey } from '@pitboss/storage/journal/journal-keys'
import type { MovementDocument } from './movement-document.ts'
import { isLookReason, type LookReason } from '../rules/flags.ts'
import { hasWork } from '../rules/movement.ts'

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

/** Wallet calls of a movement that are stored, the latest ones. */
const attemptsKept = 200

/** The key of a round's money: all movements of one round are one stream. */
export function moneyStream({
  operatorId,
  environment,
  roundId,
}: Pick<MovementDocument, 'operatorId' | 'environment' | 'roundId'>): string {
  return streamKey(operatorId, environment, roundId)
}

export function evolveMoney(money: RoundMoney, entry: MoneyEntry): RoundMoney {
  const shown = { n: entryNumber(entry._id), w: entry.w }
  const after = new Map(money)
  for (const fact of entry.f) {
    if ('base' in fact) after.set(fact.base.transactionId, { ...fact.base, ...shown })
    else if ('of' in fact) {
      const before = after.get(fact.of)
      if (before !== undefined) after.set(fact.of, { ...changed(before, fact), ...shown })
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

export function isSettled(money: RoundMoney): boolean {
  return ![...money.values()].some(hasWork)
}

/** The other movement of the round whose wallet call is in flight; a round has one call at a time. */
export function callingBeside(money: RoundMoney, transactionId: string): MovementDocument | null {
  const isOther = (one: MovementDocument) => one.call !== null && one.transactionId !== transactionId
  return [...money.values()].find(isOther) ?? null
}

function changed(before: MovementDocument, { set, unset, push }: DocumentChange): MovementDocument {
  const change = {
    ...(set === undefined ? {} : { set }),
    ...(unset === undefined ? {} : { unset }),
    ...(push === undefined ? {} : { push }),
  }
  // A change was made from two movements, so it makes one of another.
  return changeDocument(before, change, { attempts: attemptsKept }) as MovementDocument
}
