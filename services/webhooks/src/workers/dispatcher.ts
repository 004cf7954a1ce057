import { startPoll } from '@pitboss/runtime/poll'
import type { Recorded } from '../actions/record-events.ts'
import { type LateEndpoint, latenessOfRun } from '../actions/run-endpoint.ts'
import { writeSuccesses } from '../actions/settle-attempt.ts'
import {
  dropEndpoints,
  leaveEndpoints,
  Share,
  noteInstances,
  noteNotification,
  noteRecorded,
  scanEndpoints,
  type ShareContext,
} from '../actions/share-endpoints.ts'
import type { Heartbeat } from './heartbeat.ts'

const stepEveryMs = 1000
const recordSuccessesEveryMs = 1000

export type Dispatcher = ReturnType<typeof startDispatcher>

/** Shares the endpoints among the living processes, and runs its own. @param listen returns its end */
export function startDispatcher({
  listen,
  ...parts
}: Omit<ShareContext, 'isAlive' | 'heartbeat'> & {
  readonly heartbeat: Heartbeat
  readonly listen: (onNotification: (one: Parameters<typeof noteNotification>[1]) => void) => () => void
}) {
  const { heartbeat, memory, logger } = parts
  const isAlive = () => heartbeat.self() !== null
  const c: ShareContext = { ...parts, isAlive }
  const share = new Share()
  heartbeat.listen({
    onLost: (event) => dropEndpoints(c, share, event),
    onChange() {
      noteInstances(c, share)
      scan.wake()
    },
  })
  const scan = startPoll({
    ...{ event: 'worker.scan-failed', level: 'warn', everyMs: stepEveryMs, logger },
    work: (stopping) => scanEndpoints(c, share, stopping),
  })
  const successes = startPoll({
    ...{ event: 'successes.not-noted', everyMs: recordSuccessesEveryMs, logger },
    work: () => writeSuccesses(c, memory.successes),
  })
  const endListening = listen((notification) => {
    if (noteNotification(share, notification) && isAlive()) scan.wake()
  })

  return {
    async stop(): Promise<void> {
      endListening()
      await scan.stop()
      await leaveEndpoints(c, share)
      await successes.stop()
      await writeSuccesses(c, memory.successes)
    },
    onRecorded: (batch: Recorded): void => noteRecorded(c, share, batch),
    /** The endpoints that no live worker has, as they were last found. */
    untaken: () => [...share.untaken.values()],
    lateness: (now: Date): LateEndpoint[] => [...share.runs.values()].map((run) => latenessOfRun(run, now)),
  }
}
