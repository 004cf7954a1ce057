/*
 * How one endpoint passes through the event log. A range stands for the events that it names: each was
 * accepted at once (an item), is a delivery of its own, or was not for this endpoint. The last range's end is
 * the cursor. Attempt 1 of a fresh event leaves no mark before it is made, so only the first `aheadMax`
 * events for this endpoint after the cursor may have one: who takes over from a dead worker counts these
 * as interrupted, and passes them before anything else is sent. Source: ours.
 */

/** First attempts ahead of the last range, 128 ms at 1,000 a second; sent twice by a crash. Source: ours. */
export const aheadMax = 128

/** What has become of an event after the cursor. `aside`: it is a delivery of its own, which is stored. */
type Passing<Item> =
  | { readonly kind: 'ignored' | 'waiting' | 'sent' | 'aside' }
  | { readonly kind: 'accepted'; readonly item: Item }

/** The events after the cursor that are known, in the order of the log, without gaps. */
export type Passage<Item> = { cursor: number; known: Passing<Item>[] }

/** The next range: events `first` to `to`, and what was accepted at once of them, in order. */
export type NextRange<Item> = {
  readonly first: number
  readonly to: number
  readonly items: readonly { readonly seq: number; readonly item: Item }[]
}

/** Number of events for others that are passed with a range of their own. Source: ours. */
export const ignoredMax = 1000
/** Time within which deliveries of one range were made: lists search ranges by it. Source: ours. */
export const rangeSpanMsMax = 60_000

export const knownTo = ({ cursor, known }: Passage<unknown>) => cursor + known.length

/** Adds the next event of the log. @param isWanted whether it is for this endpoint */
export function addEvent(passage: Passage<unknown>, isWanted: boolean): void {
  passage.known.push({ kind: isWanted ? 'waiting' : 'ignored' })
}

/** Notes what has become of an event; one that was passed already stays so. */
export function noteEvent<Item>(passage: Passage<Item>, seq: number, passing: Passing<Item>): void {
  const index = seq - passage.cursor - 1
  if (index >= 0 && index < passage.known.length) passage.known[index] = passing
}

/** The number up to which first attempts may be made: that of the `ahead`th event for this endpoint. */
export function sendableTo({ cursor, known }: Passage<unknown>, ahead: number): number {
  let seq = cursor
  let count = 0
  for (const { kind } of known) {
    seq += 1
    if (kind !== 'ignored' && ++count === ahead) return seq
  }
  return seq
}

/** As many as have ended without a gap; null for nothing but a few events for others. */
export function nextRange<Item>({ cursor, known }: Passage<Item>, createdAtMs: (item: Item) => number) {
  const items: { seq: number; item: Item }[] = []
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let to = cursor
  let isWorthIt = false
  for (const passing of known) {
    if (passing.kind === 'waiting' || passing.kind === 'sent') break
    if (passing.kind === 'accepted') {
      const atMs = createdAtMs(passing.item)
      const [earliest, latest] = [Math.min(fromMs, atMs), Math.max(toMs, atMs)]
      if (latest - earliest > rangeSpanMsMax) break
      ;[fromMs, toMs] = [earliest, latest]
      items.push({ seq: to + 1, item: passing.item })
    }
    to += 1
    isWorthIt ||= passing.kind !== 'ignored'
  }
  return isWorthIt || to - cursor >= ignoredMax ? { first: cursor + 1, to, items } : null
}

export function passTo(passage: Passage<unknown>, to: number): void {
  passage.known.splice(0, to - passage.cursor)
  passage.cursor = Math.max(passage.cursor, to)
}
