import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { Bus } from './connect-bus.ts'
import { accessBucket, accessNews } from './topology.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { Subscription } from 'nats'
import type { Logger } from 'pino'

/** The entry that auth writes every second; its silence makes gateways refuse tokens. */
const heartbeatKey = 'heartbeat'

const putTimeoutMs = 2000

export type AccessBucket = {
  /** Tells every gateway that what `key` names has changed; answers with the revision. @throws within 2 s. */
  put(key: string, value: unknown): Promise<number>
  /** One beat; to be written every second. */
  heartbeat(): Promise<void>
}

/** The access bucket's writing side, for auth alone. Keys are like `credential.<api_key>`, `user.<id>`. */
export async function createAccessBucket({ bus }: { bus: Bus }): Promise<AccessBucket> {
  const kv = await new Kvm(jetstream(bus.nc, { timeout: putTimeoutMs })).open(accessBucket)
  const put = async (key: string, value: unknown) => {
    if (!bus.connected()) throw new Error(`not connected to NATS: ${key} was not written`)
    return kv.put(key, JSON.stringify(value))
  }
  return {
    put,
    async heartbeat() {
      await put(heartbeatKey, { at: new Date().toISOString() })
    },
  }
}

const silenceMaxMs = 2500
const retryMs = 250
/** Time until the same trouble is logged again, doubled each time up to the greatest. */
const tellAgainMs = 4000
const tellAgainMaxMs = 60_000

export type AccessWatch = {
  /** Milliseconds since the last heartbeat came in; Infinity before the first. */
  aliveWithinMs(): number
  stop(): Promise<void>
}

/**
 * Watches the access bucket for changes from now on. `onChange` gets the key and its revision, or `*`
 * (revision 0) when an entry may have been missed: at the start, when a revision is not the next one, and at
 * each new start of the watch, which follows 2.5 s without a heartbeat or any other trouble. It subscribes to
 * the subject on which the bucket's server publishes entries, so it needs no right to JetStream. Returns at
 * once. When `onChange` throws, the watch starts again.
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
  let current: Subscription | null = null
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

  /** The bucket may be away for long, as at a first start; the watch is started again just as often. */
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
    const news = bus.nc.subscribe(`${accessNews}.>`)
    current = news
    const startedAtMs = performance.now()
    let silentMs = 0
    let guard: NodeJS.Timeout | undefined
    const watchSilence = () => {
      silentMs = performance.now() - Math.max(beatAtMs, startedAtMs)
      if (silentMs > silenceMaxMs) news.unsubscribe()
      else guard = setTimeout(watchSilence, silenceMaxMs - silentMs + 1)
    }
    watchSilence()
    try {
      await bus.nc.flush()
      if (stopping.signal.aborted) return
      onChange('*', 0)
      // Between servers of a cluster the first may be lost: until one has come, the next is unknown.
      let nextRevision = 0
      for await (const message of news) {
        const key = message.subject.slice(accessNews.length + 1)
        const revision = Number(message.headers?.get('Nats-Sequence'))
        if (revision !== nextRevision) onChange('*', 0)
        else if (key !== heartbeatKey) onChange(key, revision)
        nextRevision = revision + 1
        if (key !== heartbeatKey) continue
        beatAtMs = performance.now()
        trouble = newTrouble()
      }
      if (silentMs > silenceMaxMs) throw new Error(`no heartbeat for ${Math.round(silentMs)} ms`)
    } finally {
      clearTimeout(guard)
      news.unsubscribe()
      current = null
    }
  }

  const done = watchLoop()
  return {
    aliveWithinMs: () => performance.now() - beatAtMs,
    async stop() {
      stopping.abort()
      current?.unsubscribe()
      await done
    },
  }
}

function newTrouble() {
  return { times: 0, quietMs: tellAgainMs, quietUntilMs: Number.NEGATIVE_INFINITY }
}
