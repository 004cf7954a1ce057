import type { Bus } from '@pitboss/bus/connect-bus'
import { scheduleLater } from '@pitboss/runtime/schedule-later'
import { z } from 'zod'
import { type BreakerNote, breakerNotes } from './breakers.ts'

/** Longest time between a call's end and its note to the other replicas, in milliseconds. */
const gatherMs = 50
const notesPerMessageMax = 500

/** Until 2026-11 each note was a message of its own, on `wb.breakers.v1`. */
export const breakersSubject = 'wb.breakers.v2'

/** Notes in the order of their making for each wallet: equal ones in a row are one, with their number. */
const messageSchema = z.strictObject({
  from: z.string().max(64),
  notes: z.array(z.tuple([z.string().max(64), z.enum(breakerNotes), z.int().min(1)])).max(notesPerMessageMax),
})

/** Shares notes between replicas, each at most once. A replica that is away misses them. */
export function gossipBreakers({
  bus,
  replicaId,
  later = scheduleLater,
}: {
  bus: Pick<Bus, 'publish' | 'subscribe'>
  replicaId: string
  later?: typeof scheduleLater
}) {
  let gathered: { note: BreakerNote; times: number }[] = []
  const last = new Map<string, { note: BreakerNote; times: number }>()
  let cancel: (() => void) | null = null

  function send(): void {
    cancel?.()
    cancel = null
    const notes = gathered.map(({ note, times }) => [note.wallet, note.news, times])
    gathered = []
    last.clear()
    for (let start = 0; start < notes.length; start += notesPerMessageMax) {
      const message = { from: replicaId, notes: notes.slice(start, start + notesPerMessageMax) }
      bus.publish(breakersSubject, new TextEncoder().encode(JSON.stringify(message)))
    }
  }

  return {
    /** Sends the others a probe at once, so that they send none beside it, and the rest within 50 ms. */
    notify(note: BreakerNote): void {
      const before = last.get(note.wallet)
      if (before?.note.news === note.news) {
        before.times += 1
      } else {
        const entry = { note, times: 1 }
        last.set(note.wallet, entry)
        gathered.push(entry)
      }
      if (note.news === 'probed') send()
      else cancel ??= later(send, gatherMs)
    },
    listen: (receive: (note: BreakerNote) => void): { unsubscribe(): void } =>
      bus.subscribe(breakersSubject, ({ data }) => {
        const { from, notes } = messageSchema.parse(JSON.parse(new TextDecoder().decode(data)))
        if (from === replicaId) return
        for (const [wallet, news, times] of notes) {
          for (let time = 0; time < times; time++) receive({ wallet, news })
        }
      }),
    stop: send,
  }
}
