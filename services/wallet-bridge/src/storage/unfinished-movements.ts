import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { type Journal, load } from '@pitboss/storage/journal/journal'
import { hasWork } from '../rules/movement.ts'
import { furthestWait, hasCome, nextTryWithinMs, type ScaleMs } from '../rules/retry-schedule.ts'
import { type MoneyFact, moneyOf, moneyStream } from './round-money.ts'
import type { MovementDocument } from './movement-document.ts'

export type UnfinishedMovements = ReturnType<typeof createUnfinishedMovements>

/** What of it settlement takes. */
export type DueMovements = Pick<UnfinishedMovements, 'nextWallet' | 'ofWallet' | 'pullForward' | 'putOff'>

/** What stays in memory of a movement: its state is loaded when it is due. */
type Waiting = Pick<MovementDocument, 'transactionId' | 'type' | 'createdAt' | 'updatedAt'> & {
  readonly stream: string
  readonly dueAt: Date
  readonly isCalled: boolean
  readonly isPending: boolean
}

type OfStream = { readonly wallet: string; readonly ids: readonly string[]; readonly last: number }
type OfWallet = { readonly waiting: Map<string, Waiting>; firstMs: number | null }

/** Wallets whose last pull forward is remembered. */
const pulledMax = 10_000
/** Clocks of replicas may differ by this much before a wait counts as too long. */
const slackMs = 2000

type Options = { readonly journal: Journal<MoneyFact>; readonly scaleMs: ScaleMs }

/** The unfinished movements of streams whose last entry this process has written. Source: ours. */
export function createUnfinishedMovements({ journal, scaleMs }: Options) {
  const wallets = new Map<string, OfWallet>()
  const keysOf = new Map<string, OfStream>()
  /** When a wallet's backlog was pulled forward last. */
  const pulledAt = new BoundedMap<string, Date>(pulledMax)
  let sorted: readonly string[] | null = null

  /** Leaves a stream whose entry `last` another process wrote, unless this one has written a later one. */
  function leave(stream: string, last: number): void {
    const known = keysOf.get(stream)
    if (known === undefined || known.last >= last) return
    const ofWallet = wallets.get(known.wallet)
    if (ofWallet === undefined) return
    for (const id of known.ids) ofWallet.waiting.delete(id)
    ofWallet.firstMs = null
    keysOf.delete(stream)
    if (ofWallet.waiting.size > 0) return
    wallets.delete(known.wallet)
    sorted = null
  }

  function put(movement: MovementDocument, stream: string, dueAt: Date): void {
    const { walletKey, transactionId, type, createdAt, updatedAt, call, status } = movement
    const ofWallet = wallets.get(walletKey) ?? { waiting: new Map(), firstMs: null }
    const states = { isCalled: call !== null, isPending: status === 'PENDING' }
    const one = { transactionId, type, createdAt, updatedAt, stream, dueAt, ...states }
    // Its entry may have been on the way when the wallet's backlog was pulled forward.
    const pulled = pulledAt.get(walletKey)
    const isPulled = pulled !== undefined && isPulledBy(one, pulled)
    ofWallet.waiting.set(movement._id, isPulled ? { ...one, dueAt: pulled } : one)
    ofWallet.firstMs = null
    if (wallets.has(walletKey)) return
    wallets.set(walletKey, ofWallet)
    sorted = null
  }

  /** When the wallet's first movement is due. */
  function firstMs(walletKey: string): number {
    const ofWallet = wallets.get(walletKey)
    if (ofWallet === undefined) return Number.POSITIVE_INFINITY
    if (ofWallet.firstMs !== null) return ofWallet.firstMs
    let first = Number.POSITIVE_INFINITY
    for (const { dueAt } of ofWallet.waiting.values()) first = Math.min(first, dueAt.getTime())
    ofWallet.firstMs = first
    return first
  }

  function makeDue(isMeant: (one: Waiting) => boolean, now: Date, keys: Iterable<string>): number {
    let changed = 0
    for (const key of keys) {
      const ofWallet = wallets.get(key)
      if (ofWallet === undefined) continue
      for (const [id, one] of ofWallet.waiting) {
        if (!isMeant(one)) continue
        ofWallet.waiting.set(id, { ...one, dueAt: now })
        changed += 1
      }
      ofWallet.firstMs = null
    }
    return changed
  }

  function isTooLong({ type, createdAt, dueAt, isCalled, isPending }: Waiting, now: Date): boolean {
    if (dueAt > furthestWait(now, scaleMs)) return true
    if (type === 'BET' || isCalled || !isPending) return false
    const withinMs = nextTryWithinMs(Math.max(0, now.getTime() - createdAt.getTime()), scaleMs)
    return dueAt.getTime() > now.getTime() + withinMs + slackMs
  }

  async function loadOwn({ stream, transactionId, dueAt }: Waiting): Promise<MovementDocument[]> {
    const { entries, last } = await load(journal, stream)
    // Another process has it by now, or this one was judged dead and goes on under another name.
    if (entries.at(-1)?.o !== journal.instance()) {
      leave(stream, last)
      return []
    }
    const movement = moneyOf(entries).get(transactionId)
    // What was pulled forward is due earlier than its entry says.
    return movement === undefined ? [] : [{ ...movement, dueAt }]
  }

  return {
    /** Takes in a stream's movements: this process has written its last entry, number `last`. */
    own(movements: readonly MovementDocument[], last: number): void {
      const open = movements.filter((one) => hasWork(one) && one.dueAt !== null)
      const [any] = movements
      if (any === undefined) return
      const stream = moneyStream(any)
      if ((keysOf.get(stream)?.last ?? 0) > last) return
      leave(stream, Number.POSITIVE_INFINITY)
      for (const one of open) if (one.dueAt !== null) put(one, stream, one.dueAt)
      const ids = open.map(({ _id }) => _id)
      if (open.length > 0) keysOf.set(stream, { wallet: any.walletKey, ids, last })
    },
    leave,
    clear(): void {
      wallets.clear()
      keysOf.clear()
      sorted = null
    },
    /** The first wallet key after `after` with a movement due at `now`, or null. */
    async nextWallet(after: string, now: Date): Promise<string | null> {
      sorted ??= [...wallets.keys()].toSorted()
      const isDue = (key: string) => key > after && firstMs(key) <= now.getTime()
      return sorted.find(isDue) ?? null
    },
    /** A wallet's due movements, longest due first. */
    async ofWallet(walletKey: string, now: Date, limit: number): Promise<MovementDocument[]> {
      const due = [...(wallets.get(walletKey)?.waiting.values() ?? [])]
        .filter(({ dueAt }) => hasCome(dueAt, now, scaleMs))
        .toSorted((a, b) => a.dueAt.getTime() - b.dueAt.getTime())
        .slice(0, limit)
      return (await Promise.all(due.map(loadOwn))).flat()
    },
    /** Makes a wallet's waiting credits and rollbacks due at once. @returns the number of them */
    async pullForward(walletKey: string, now: Date): Promise<number> {
      pulledAt.set(walletKey, now)
      return makeDue((one) => isPulledBy(one, now), now, [walletKey])
    },
    /** Makes a movement due later, only in the memory of this process. @returns it as it waits now */
    putOff(movement: MovementDocument, until: Date): MovementDocument {
      const ofWallet = wallets.get(movement.walletKey)
      const one = ofWallet?.waiting.get(movement._id)
      if (ofWallet !== undefined && one !== undefined) {
        ofWallet.waiting.set(movement._id, { ...one, dueAt: until })
        ofWallet.firstMs = null
      }
      return { ...movement, dueAt: until }
    },
    /** Makes due what waits longer than its age allows, by a clock that was ahead. @returns the number */
    endLongWaits: (now: Date): number => makeDue((one) => isTooLong(one, now), now, [...wallets.keys()]),
    /** The next instant at which a movement is due; infinity when none is. */
    nextDueMs: (): number => Math.min(Number.POSITIVE_INFINITY, ...[...wallets.keys()].map(firstMs)),
  }
}

/** Whether a pull forward at that instant makes it due: what was tried since then keeps its new time. */
function isPulledBy({ dueAt, updatedAt, isPending, type, isCalled }: Waiting, at: Date): boolean {
  return dueAt > at && updatedAt <= at && isPending && type !== 'BET' && !isCalled
}
