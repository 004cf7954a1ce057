import { startPoll } from '@pitboss/runtime/poll'
import type { Recorded } from '../actions/record-events.ts'
import { type LateEndpoint, latenessOfRun } from '../actions/run-endpoint.ts'
import { writeSuccesses } from '../actions/settle-attempt.ts'
import * as share from '../actions/share-endpoints.ts'
import type { Heartbeat } from './heartbeat.ts'

const stepEveryMs = 1000
const recordSuccessesEveryMs = 1000

export type Dispatcher = ReturnType<typeof startDispatcher>

type DispatcherParts = Omit<share.ShareContext, 'isAlive' | 'heartbeat'> & {
  readonly heartbeat: Heartbeat
  readonly listen: (onNotification: (one: Parameters<typeof share.noteNotification>[1]) => void) => () => void
}

/** Shares the endpoints among the living processes, and runs its own. @param listen returns its end */
export function startDispatcher({ listen, ...parts }: DispatcherParts) {
  const { heartbeat, memory, logger } = parts
  const isAlive = () => heartbeat.self() !== null
  const c: share.ShareContext = { ...parts, isAlive }
  const known = new share.Share()
  heartbeat.listen({
    onLost: (event) => share.dropEndpoints(c, known, event),
    onChange() {
      share.noteInstances(c, known)
      scan.wake()
    },
  })
  const scan = startPoll({
    ...{ event: 'worker.scan-failed', level: 'warn', everyMs: stepEveryMs, logger },
    work: (stopping) => share.scanEndpoints(c, known, stopping),
  })
  const successes = startPoll({
    ...{ event: 'successes.not-noted', everyMs: recordSuccessesEveryMs, logger },
    work: () => writeSuccesses(c, memory.successes),
  })
  const endListening = listen((notification) => {
    if (share.noteNotification(known, notification) && isAlive()) scan.wake()
  })

  return {
    async stop(): Promise<void> {
      endListening()
      await scan.stop()
      await share.leaveEndpoints(c, known)
      await successes.stop()
      await writeSuccesses(c, memory.successes)
    },
    onRecorded: (batch: Recorded): void => share.noteRecorded(c, known, batch),
    untaken: () => [...known.untaken.values()],
    lateness: (now: Date): LateEndpoint[] => [...known.runs.values()].map((run) => latenessOfRun(run, now)),
  }
}
