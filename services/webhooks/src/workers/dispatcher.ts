import { startPoll } from '@pitboss/runtime/poll'
import type { LateEndpoint } from '../rules/lateness.ts'
import type { Recorded } from '../actions/record-events.ts'
import { latenessOfRun } from '../actions/run-endpoint.ts'
import { writeSuccesses } from '../actions/settle-attempt.ts'
import {
  dropEndpoints,
  leaveEndpoints,
  newShare,
  noteInstances,
  noteNotification,
  noteRecorded,
  scanEndpoints,
  type Share,
  type ShareContext,
} from '../actions/share-endpoints.ts'
import type { Heartbeat } from './heartbeat.ts'

const stepEveryMs = 1000
const recordSuccessesEveryMs = 1000

export type Dispatcher = {
  /** Takes no more endpoints, lets attempts in flight end, gives all leases back. */
  stop(): Promise<void>
  /** Has events delivered of which messages came to this process, also by other processes. */
  onRecorded(batch: Recorded): void
  /** The endpoints that no live worker has, as they were last found. */
  untaken(): readonly NonNullable<ReturnType<Share['untaken']['get']>>[]
  /** How late the deliveries of the endpoints are that this worker runs. */
  lateness(now: Date): LateEndpoint[]
}

/**
 * Shares all endpoints among the processes that are alive, and runs those of this one. An endpoint changes
 * hands when its worker gives its lease back, or is dead.
 * @param listen subscribes to the notifications of all processes; returns the end of it
 */
export function startDispatcher({
  listen,
  ...c
}: Omit<ShareContext, 'isAlive' | 'heartbeat'> & {
  readonly heartbeat: Heartbeat
  readonly listen: (
    onNotification: (notification: Parameters<typeof noteNotification>[1]) => void,
  ) => () => void
}): Dispatcher {
  const { heartbeat, memory, logger } = c
  const isAlive = () => heartbeat.self() !== null
  const context: ShareContext = { ...c, isAlive }
  const share = newShare()
  heartbeat.listen({
    onLost: (event) => dropEndpoints(context, share, event),
    onChange() {
      noteInstances(context, share)
      scan.wake()
    },
  })
  const scan = startPoll({
    ...{ event: 'worker.scan-failed', level: 'warn', everyMs: stepEveryMs },
    work: (stopping) => scanEndpoints(context, share, stopping),
    logger,
  })
  const successes = startPoll({
    ...{ event: 'successes.not-noted', everyMs: recordSuccessesEveryMs },
    work: () => writeSuccesses(context, memory.successes),
    logger,
  })
  const endListening = listen((notification) => {
    if (noteNotification(share, notification) && isAlive()) scan.wake()
  })

  return {
    async stop() {
      endListening()
      await scan.stop()
      await leaveEndpoints(context, share)
      await successes.stop()
      await writeSuccesses(context, memory.successes)
    },
    onRecorded: (batch) => noteRecorded(context, share, batch),
    untaken: () => [...share.untaken.values()],
    lateness: (now) => [...share.runs.values()].map((run) => latenessOfRun(run, now)),
  }
}
