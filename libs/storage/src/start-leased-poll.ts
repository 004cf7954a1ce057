import { randomUUID } from 'node:crypto'
import { commonPauseMs, type Poll, startPoll } from '@pitboss/runtime/poll'
import { createLease } from './lease.ts'

/**
 * Runs `work` again and again on one replica at a time: on the one that has the lease, which is given back at
 * the end. Other options are those of a poll.
 * @param work answers true when there is more to do at once
 * @param idle `isIdle` tells that nothing is to be done; then nobody has the lease, and the next look comes
 * after `everyMs`, or a wake
 */
export function startLeasedPoll({
  lease: own,
  work,
  idle,
  ...options
}: Omit<Parameters<typeof startPoll>[0], 'work'> & {
  lease: Omit<Parameters<typeof createLease>[0], 'owner'>
  work: (stopping: AbortSignal) => Promise<boolean>
  idle?: { readonly isIdle: () => Promise<boolean>; readonly everyMs: number }
}): Poll {
  const lease = createLease({ ...own, owner: randomUUID() })
  let token: number | null = null
  async function hold(): Promise<boolean> {
    if (token === null || !(await lease.renew(token))) token = await lease.acquire()
    return token !== null
  }
  /** Never rejects: the lease runs out by itself. */
  async function release(): Promise<void> {
    if (token !== null) await lease.release(token).catch(() => undefined)
    token = null
  }
  const poll = startPoll({
    ...options,
    async work(stopping) {
      if (idle !== undefined && (await idle.isIdle())) {
        await release()
        return commonPauseMs(idle.everyMs)
      }
      while (!stopping.aborted && (await hold()) && (await work(stopping)));
    },
  })
  return {
    wake: poll.wake,
    async stop() {
      await poll.stop()
      await release()
    },
  }
}
