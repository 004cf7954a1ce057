import { decodeRound, type RoundFields } from '@pitboss/rounds/storage/round-document'
import type { RoundState } from '@pitboss/rounds/rules/round'

/** What an entry of a round says, as it is stored. */
type Fact = {
  readonly base?: RoundFields
  readonly withdrawn?: true
  readonly isPlace?: true
  readonly change?: {
    readonly set?: Readonly<Record<string, unknown>>
    readonly unset?: readonly string[]
    readonly push?: Readonly<Record<string, readonly unknown[]>>
  }
}
type Entry = {
  readonly _id: string
  readonly w: string
  readonly wd?: number
  readonly f: readonly Fact[]
}

/** A round as its last entry leaves it, and the write of the entry that made it. */
export type Row = {
  readonly round: RoundState
  readonly fields: RoundFields
  readonly n: number
  readonly w: string
  readonly made: string
}

const historyMax = 60

/**
 * The round that a stream's entries make, up to the first whose claims are not its own; null for a place, for
 * what was taken back and for a refusal. Read a second time here, so that what judges shares nothing with the
 * product's own reading but the types of fields.
 */
export function foldRound<One extends Entry>(
  entries: readonly One[],
  isOwn: (entry: One) => boolean,
): Row | null {
  const voided = new Set(entries.filter(({ f }) => f.length === 0).map(({ wd }) => wd))
  // What was taken back has given its claims back, too.
  const takenBack = new Set(entries.map(({ wd }) => wd))
  let fields: RoundFields | null = null
  let made = ''
  let isGone = false
  let last: Entry | null = null
  for (const entry of entries) {
    const { _id, w, f } = entry
    if (f.length === 0 || voided.has(numberOf(_id))) continue
    if (!takenBack.has(numberOf(_id)) && !isOwn(entry)) break
    last = entry
    for (const { base, change, withdrawn = false, isPlace = false } of f) {
      if (base !== undefined) [fields, made] = [base, w]
      if (withdrawn || isPlace) isGone = true
      if (fields !== null && change !== undefined) fields = changed(fields, change)
    }
  }
  if (fields === null || isGone || last === null) return null
  return { round: decodeRound(fields), fields, made, w: last.w, n: numberOf(last._id) }
}

function numberOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('/') + 1))
}

function changed(
  before: RoundFields,
  { set, unset = [], push = {} }: NonNullable<Fact['change']>,
): RoundFields {
  const after: RoundFields = { ...before, ...set }
  for (const name of unset) Reflect.deleteProperty(after, name)
  for (const [name, items] of Object.entries(push)) {
    const known: unknown = Reflect.get(after, name)
    const all = [...(Array.isArray(known) ? known : []), ...items]
    Reflect.set(after, name, name === 'history' ? all.slice(-historyMax) : all)
  }
  return after
}
