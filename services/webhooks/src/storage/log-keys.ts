import type { Scope } from '@pitboss/contracts/caller'
import { eventEnvironment } from '@pitboss/contracts/primitives'
import { nameOf, partsOf } from '@pitboss/storage/journal/journal-keys'

const seqDigits = 12
export const seqMax = 10 ** seqDigits - 1

export const isSameScope = (a: Scope, b: Scope) =>
  a.operatorId === b.operatorId && a.environment === b.environment

/** A number as keys have it: they sort by it. */
export const seqText = (seq: number) => String(seq).padStart(seqDigits, '0')

export const logKey = ({ operatorId, environment }: Scope, seq: number) =>
  nameOf([operatorId, environment, seqText(seq)])

export function keysAfter(scope: Scope, afterSeq: number) {
  return { $gt: logKey(scope, afterSeq), $lte: logKey(scope, seqMax) }
}

/** The scope and recording number of a key. @throws Error for a text that is none */
export function readLogKey(key: string): { readonly scope: Scope; readonly seq: number } {
  const [operatorId = '', environment, digits = ''] = partsOf(key)
  const seq = Number(digits)
  if (digits.length !== seqDigits || !Number.isSafeInteger(seq))
    throw new Error(`${key} is no key of the log`)
  return { scope: { operatorId, environment: eventEnvironment.parse(environment) }, seq }
}
