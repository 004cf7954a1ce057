import { idOf } from '@pitboss/runtime/new-id'
import type { Document } from 'mongodb'

/** An id is made within this much of its object's creation time, on whichever replica. */
const slackMs = 60_000

/** Conditions of a list's page on ids and creation times; null sets no condition. */
export type CreatedWithin = {
  readonly ids: { readonly $gt?: string; readonly $lt?: string } | null
  readonly createdAt: { readonly $gte?: Date; readonly $lte?: Date } | null
}

/**
 * A window of a list in the order of its time-ordered ids: created from `from` to `to`, both inclusive, above
 * `after` and below `before`. It bounds the ids as well as the times, so that an index on the ids finds an
 * old window without reading all that is newer.
 * @param earlyMs how much earlier than its object an id may have been made: a claimed idempotency key keeps
 * one for up to 24 h
 */
export function createdWithin({
  prefix,
  from,
  to,
  before = null,
  after = null,
  earlyMs = 0,
}: {
  prefix: string
  from?: Date | undefined
  to?: Date | undefined
  before?: string | null
  after?: string | null
  earlyMs?: number
}): CreatedWithin {
  const lowest = from === undefined ? null : firstIdAt(prefix, from.getTime() - slackMs - earlyMs)
  const highest = to === undefined ? null : firstIdAt(prefix, to.getTime() + slackMs + 1)
  const [above] = present(lowest, after).toReversed()
  const [below] = present(highest, before)
  const ids = {
    ...(above === undefined ? {} : { $gt: above }),
    ...(below === undefined ? {} : { $lt: below }),
  }
  const createdAt = {
    ...(from === undefined ? {} : { $gte: from }),
    ...(to === undefined ? {} : { $lte: to }),
  }
  return { ids: orNull(ids), createdAt: orNull(createdAt) }
}

/** The same conditions on the fields that hold an object's id and the time of its creation. */
export function createdFilter(
  window: Parameters<typeof createdWithin>[0],
  id = '_id',
  time = 'createdAt',
): Document {
  const { ids, createdAt } = createdWithin(window)
  return { ...(ids === null ? {} : { [id]: ids }), ...(createdAt === null ? {} : { [time]: createdAt }) }
}

/** The length of a list's window that has no start. */
export const usualWindowMs = 7 * 24 * 60 * 60 * 1000

export type WindowQuery = { readonly from?: string | undefined; readonly to?: string | undefined }

/** Reads a list's time window: `to` without `from` ends seven days. Source: docs/contract.md, section 11. */
export function readWindow({ from, to }: WindowQuery): { from: Date | undefined; to: Date | undefined } {
  const end = to === undefined ? undefined : new Date(to)
  if (from !== undefined) return { from: new Date(from), to: end }
  return { from: end === undefined ? undefined : new Date(end.getTime() - usualWindowMs), to: end }
}

/** The filters that are given: an undefined one is none. */
export function definedOf(filters: object): Document {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

function orNull<Bounds extends object>(bounds: Bounds): Bounds | null {
  return Object.keys(bounds).length === 0 ? null : bounds
}

/** The two bounds that are set, the lower one first. */
function present(...bounds: readonly (string | null)[]): string[] {
  return bounds.filter((bound) => bound !== null).toSorted()
}

/** Lower than every id with this prefix that is made at `ms` or later: its time, then zeros. */
function firstIdAt(prefix: string, ms: number): string {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(Math.max(0, Math.floor(ms)), 0, 6)
  return idOf(prefix, bytes)
}
