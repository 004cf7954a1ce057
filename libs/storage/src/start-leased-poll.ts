import { type Poll, startPoll } from '@pitboss/runtime/poll'
import { createLeaseHolder, type Lease } from './lease.ts'

/**
 * Runs `work` again and again on one replica at a time: on the one that holds the lease, which is given back
 * at the end. Other options are those of a poll.
 * @param work answers true when there is more to do at once
 * @param idle `isIdle` tells that nothing is to be done; then nobody holds the lease, and the next look comes
 * after `everyMs`, or a wake
 */
export function startLeasedPoll({
  lease,
  work,
  idle,
  ...options
}: Omit<Parameters<typeof startPoll>[0], 'work'> & {
  lease: Lease
  work: (stopping: AbortSignal) => Promise<boolean>
  idle?: { readonly isIdle: () => Promise<boolean>; readonly everyMs: number }
}): Poll {
  const holder = createLeaseHolder(lease)
  const poll = startPoll({
    ...options,
    async work(stopping) {
      if (idle !== undefined && (await idle.isIdle())) {
        await holder.release()
        return idle.everyMs
      }
      while (!stopping.aborted && (await holder.hold()) !== null && (await work(stopping)));
    },
  })
  return {
    wake: poll.wake,
    async stop() {
      await poll.stop()
      await holder.release()
    },
  }
}
