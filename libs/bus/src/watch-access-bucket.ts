import { setTimeout as delay } from 'node:timers/promises'
import { jetstream } from '@nats-io/jetstream'
import { type KvWatchEntry, Kvm, KvWatchInclude } from '@nats-io/kv'
import type { QueuedIterator } from 'nats'
import type { Logger } from 'pino'
import { heartbeatKey } from './access-bucket.ts'
import type { Bus } from './connect-bus.ts'
import { accessBucket } from './topology.ts'

const silenceMaxMs = 2500
const checkEveryMs = 250
const retryMs = 250
/** The same trouble is told again after this long, then after twice as long each time, up to the greatest. */
const tellAgainMs = 1000
const tellAgainMaxMs = 60_000

export type AccessWatch = {
  /** Milliseconds since the last heartbeat came in; Infinity before the first. */
  aliveWithinMs(): number
  stop(): Promise<void>
}

/**
 * Watches the access bucket for changes from now on. `onChange` gets the key and its revision, or `*` (revision 0) whenever something may
 * have been missed: at the start and after each new start of the watch, which follows from 2.5 s without a heartbeat or any other trouble.
 * Returns at once. A throw of `onChange` starts the watch anew.
 */
export function watchAccessBucket({
  bus,
  onChange,
  logger,
}: {
  bus: Bus
  onChange: (key: string, revision: number) => void
  logger: Logger
}): AccessWatch {
  const stopping = new AbortController()
  let beatAtMs = Number.NEGATIVE_INFINITY
  let current: QueuedIterator<KvWatchEntry> | null = null
  let trouble = newTrouble()

  const watchLoop = async () => {
    while (!stopping.signal.aborted) {
      try {
        await watchOnce()
      } catch (err) {
        if (!stopping.signal.aborted) tell(err)
      }
      await delay(retryMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  /** The bucket may be away for long, at a first start for one; the watch is tried on just as often. */
  function tell(err: unknown): void {
    const nowMs = performance.now()
    trouble.times += 1
    if (nowMs < trouble.quietUntilMs) return
    logger.warn({ err, times: trouble.times }, 'access-watch.interrupted')
    trouble.quietUntilMs = nowMs + trouble.quietMs
    trouble.quietMs = Math.min(trouble.quietMs * 2, tellAgainMaxMs)
  }

  async function watchOnce(): Promise<void> {
    if (!bus.connected()) return
    const kv = await new Kvm(jetstream(bus.nc)).open(accessBucket)
    const entries = await kv.watch({ include: KvWatchInclude.UpdatesOnly })
    current = entries
    trouble = newTrouble()
    const startedAtMs = performance.now()
    const guard = setInterval(() => {
      const silentMs = performance.now() - Math.max(beatAtMs, startedAtMs)
      if (silentMs <= silenceMaxMs) return
      logger.warn({ silent_ms: Math.round(silentMs) }, 'access-watch.silent')
      entries.stop()
    }, checkEveryMs)
    try {
      if (stopping.signal.aborted) return
      onChange('*', 0)
      for await (const entry of entries) {
        if (entry.key === heartbeatKey) beatAtMs = performance.now()
        else onChange(entry.key, entry.revision)
      }
    } finally {
      clearInterval(guard)
      entries.stop()
      current = null
    }
  }

  const done = watchLoop()
  return {
    aliveWithinMs: () => performance.now() - beatAtMs,
    async stop() {
      stopping.abort()
      current?.stop()
      await done
    },
  }
}

function newTrouble() {
  return { times: 0, quietMs: tellAgainMs, quietUntilMs: Number.NEGATIVE_INFINITY }
}
