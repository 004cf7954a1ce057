import { BoundedMap } from '@pitboss/runtime/bounded-map'
import * as rules from '../rules/circuit-breaker.ts'
import type { ScaleMs } from '../rules/retry-schedule.ts'
import type { Bus } from '@pitboss/bus/connect-bus'
import { scheduleLater } from '@pitboss/runtime/schedule-later'
import { z } from 'zod'

export const breakerNotes = ['answered', 'unknown', 'probed'] as const

/** Notifies other processes how a call to a wallet ended here, or that a probe goes out from here. */
export type BreakerNote = { readonly wallet: string; readonly news: (typeof breakerNotes)[number] }

/** The circuit breakers, one per wallet. They hold back new stakes only. */
export type Breakers = ReturnType<typeof createBreakers>

type BreakerParts = {
  readonly scaleMs: ScaleMs
  readonly nowMs: () => number
  readonly notify: (note: BreakerNote) => void
  readonly onOpened: (walletKey: string) => void
  /** Called when a wallet answers again, this process or another one, after its breaker was open. */
  readonly onClosed: (walletKey: string) => void
}

const walletsMax = 10_000

/** Every process counts its own calls, and those of which others notify it while they are connected. */
export function createBreakers({ scaleMs, nowMs, notify, onOpened, onClosed }: BreakerParts) {
  const states = new BoundedMap<string, rules.BreakerState>(walletsMax)
  const stateOf = (key: string) => states.get(key) ?? rules.closedBreaker
  const isOpen = (key: string) => stateOf(key).probeAtMs !== null

  function count(key: string, answered: boolean): void {
    const wasOpen = isOpen(key)
    states.set(key, rules.recordOutcome(stateOf(key), answered, nowMs(), scaleMs))
    if (!wasOpen && isOpen(key)) onOpened(key)
    if (wasOpen && !isOpen(key)) onClosed(key)
  }

  return {
    /** Whether a new stake may be sent; while the breaker is open, one as a probe in each interval. */
    admit(key: string): boolean {
      const before = stateOf(key)
      const { admitted, state } = rules.admitStake(before, nowMs(), scaleMs)
      if (state === before) return admitted
      states.set(key, state)
      notify({ wallet: key, news: 'probed' })
      return admitted
    },
    isOpen,
    record(key: string, answered: boolean): void {
      count(key, answered)
      notify({ wallet: key, news: answered ? 'answered' : 'unknown' })
    },
    receive({ wallet, news }: BreakerNote): void {
      if (news === 'probed') states.set(wallet, rules.deferProbe(stateOf(wallet), nowMs(), scaleMs))
      else count(wallet, news === 'answered')
    },
    open: () => [...states.entries()].filter(([, state]) => state.probeAtMs !== null).map(([key]) => key),
  }
}

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

type GatheredNote = { readonly note: BreakerNote; times: number }
type GossipParts = {
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>
  readonly replicaId: string
  readonly later?: typeof scheduleLater
}

/** Shares notes between replicas, each at most once. A replica that is away misses them. */
export function gossipBreakers({ bus, replicaId, later = scheduleLater }: GossipParts) {
  let gathered: GatheredNote[] = []
  const last = new Map<string, GatheredNote>()
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
