import { startPoll } from '@pitboss/runtime/poll'
import type { Instances, Progress } from '@pitboss/storage/journal/instances'
import type { Logger } from 'pino'

const beatEveryMs = 1000
/** Duties of a journal: this service has none. */
const nothingLeft: Progress = { done: 0, last: 0, oldestAt: null }

export type Heartbeat = ReturnType<typeof startHeartbeat>

type HeartbeatListener = {
  /** Another set of instances is alive. */
  onChange(): void
  /** This process may act under its leases no more. @param event names why, for the log */
  onLost(event: string): void
}

type HeartbeatParts = {
  readonly instances: Instances
  readonly clockAgrees: () => boolean
  readonly hasLeft: (instance: string) => Promise<boolean>
  readonly logger: Logger
}

/** Beats until stopped. A process that could not beat, or whose clock is wrong, acts no more. */
export function startHeartbeat({ instances, clockAgrees, hasLeft, logger }: HeartbeatParts) {
  const listeners: HeartbeatListener[] = []
  /** As of the last beat; null before the first, and after a failure that others may have seen. */
  let seen: { readonly self: string; readonly others: readonly string[] } | null = null
  /** This process's instance; null while others may take it for dead. */
  const self = (): string | null => (seen !== null && instances.current() === seen.self ? seen.self : null)

  function lose(event: string): void {
    seen = null
    for (const listener of listeners) listener.onLost(event)
  }

  async function beat(): Promise<void> {
    if (!clockAgrees()) return lose('worker.clock-wrong')
    try {
      const { instance, alive, toRecover, isNew } = await instances.beat(() => nothingLeft)
      if (isNew) lose('worker.leases-lost')
      const before = seen?.others ?? []
      const isFirst = seen === null
      seen = { self: instance, others: alive.filter((one) => one !== instance) }
      for (const { _id } of toRecover) if (!(await hasLeft(_id))) await instances.recovered(_id)
      const isSame = !isFirst && seen.others.toSorted().join() === before.toSorted().join()
      if (!isSame) for (const listener of listeners) listener.onChange()
    } finally {
      if (self() === null) lose('worker.leases-lost')
    }
  }

  const beats = startPoll({
    ...{ event: 'worker.beat-failed', level: 'warn', everyMs: beatEveryMs, work: beat, logger },
  })

  return {
    self,
    others: (): readonly string[] => seen?.others ?? [],
    listen: (listener: HeartbeatListener): void => void listeners.push(listener),
    /** The clean end, after all work: others take over at once. */
    async stop() {
      await beats.stop()
      await instances.leave(nothingLeft).catch((err: unknown) => logger.warn({ err }, 'worker.not-retired'))
    },
  }
}
