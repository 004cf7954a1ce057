import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { Instances } from './journal/instances.ts'

/** Longest use of a copy, from the beginning of the read that made it. */
const usedMs = 5000
/** By so much the clocks of two machines may drift apart in that time. */
const driftMs = 100
const copiesMax = 10_000

const text = z.string().max(300)
const noteSchema = z.strictObject({ id: text, collection: text, key: text })
const acknowledgementSchema = z.strictObject({ id: text, by: text })

export type SharedCopies = ReturnType<typeof shareCopies>
type Copy<Value> = { readonly instance: string; readonly beganMs: number; readonly value: Promise<Value> }

/**
 * Copies documents that every play reads and people seldom change into the memory of a service's processes.
 * Once a change has been answered, no process uses what was there before for a request that begins later:
 * - Who changes a document writes it, sends its key to all processes, and waits for the acknowledgement of
 *   every living instance before it answers. A note drops the copy, also one that is being read.
 * - A copy is used for 5 s at most from the beginning of its read, by the instance that read it, and never by
 *   a process that others may have judged dead. So one that is frozen, dead or cut off delays the answer by
 *   5.1 s, and does no other harm; nor does one that dies between its write and its note.
 * Source: ours.
 */
export function shareCopies({
  bus,
  service,
  instances,
  steadyMs,
  wait = (ms) => delay(ms, undefined, { ref: false }),
  logger,
}: {
  bus: {
    publish(subject: string, payload: Uint8Array): void
    subscribe(subject: string, fn: (message: { data: Uint8Array }) => void): { unsubscribe(): void }
  }
  service: string
  /** Who may act in this service: each has a document, which stands before its first read. */
  instances: Pick<Instances, 'current' | 'readAlive'>
  /** Milliseconds of a clock that never jumps. */
  steadyMs: () => number
  wait?: (ms: number) => Promise<unknown>
  logger: Pick<Logger, 'warn'>
}) {
  const collections = new Map<string, { delete(key: string): void }>()
  const awaited = new Map<string, (by: string) => void>()
  const [notes, acknowledgements] = [`copies.${service}.drop`, `copies.${service}.dropped`]
  const send = (subject: string, message: object) =>
    bus.publish(subject, Buffer.from(JSON.stringify(message)))
  const parse = (data: Uint8Array): unknown => JSON.parse(Buffer.from(data).toString())

  const listening = [
    bus.subscribe(notes, ({ data }) => {
      const { id, collection, key } = noteSchema.parse(parse(data))
      collections.get(collection)?.delete(key)
      const by = instances.current()
      if (by !== null) send(acknowledgements, { id, by })
    }),
    bus.subscribe(acknowledgements, ({ data }) => {
      const { id, by } = acknowledgementSchema.parse(parse(data))
      awaited.get(id)?.(by)
    }),
  ]

  async function notify(collection: string, key: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<'acknowledged'>()
    const acknowledged = new Set<string>()
    let others: readonly string[] | null = null
    const check = () => {
      if (others?.every((other) => acknowledged.has(other)) === true) resolve('acknowledged')
    }
    const id = randomUUID()
    awaited.set(id, (by) => {
      acknowledged.add(by)
      check()
    })
    send(notes, { id, collection, key })
    // Read after the write: who is not among them begins to read after it, too.
    const known = instances.readAlive().then((alive) => {
      others = alive.filter((instance) => instance !== instances.current())
      check()
    })
    known.catch((err: unknown) => logger.warn({ err, collection, key }, 'copies.instances-unknown'))
    const ended = await Promise.race([promise, wait(usedMs + driftMs)])
    awaited.delete(id)
    if (ended !== 'acknowledged') logger.warn({ collection, key }, 'copies.not-acknowledged')
  }

  return {
    /**
     * Makes the copies of the documents of one collection, a missing document among them.
     * @param readDocument reads a document as a majority has it
     */
    of<Value>(collection: string, readDocument: (key: string) => Promise<Value>) {
      const copies = new BoundedMap<string, Copy<Value>>(copiesMax)
      collections.set(collection, copies)
      return {
        /** Returns the copy of a document; reads it where there is none that may be used. */
        read(key: string): Promise<Value> {
          const instance = instances.current()
          if (instance === null) return readDocument(key)
          const beganMs = steadyMs()
          const known = copies.get(key)
          if (known?.instance === instance && beganMs - known.beganMs < usedMs) return known.value
          const copy = { instance, beganMs, value: readDocument(key) }
          copies.set(key, copy)
          copy.value.catch(() => {
            if (copies.get(key) === copy) copies.delete(key)
          })
          return copy.value
        },
        /**
         * Drops a document's copies in all processes of the service. To be awaited between a write and its
         * answer. Resolves when each process has acknowledged, after 5.1 s at the latest. Never rejects.
         */
        drop(key: string): Promise<void> {
          copies.delete(key)
          return notify(collection, key)
        },
      }
    },
    stop: () => listening.forEach(({ unsubscribe }) => unsubscribe()),
  }
}
