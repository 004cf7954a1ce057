import { readdirSync, readFileSync } from 'node:fs'
import type { DemoFile } from '@pitboss/stack/demo-file'

const services = new Set(['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks'])

/**
 * Nanoseconds that each service has spent on a processor so far, over all of its processes and threads. Linux
 * only.
 */
export function processorTimes({ processes }: DemoFile): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const { name, pid } of processes) {
    if (!services.has(name) || pid === null) continue
    times.set(name, (times.get(name) ?? 0) + timeOf(pid))
  }
  return times
}

function timeOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => sum + timeOfThread(pid, thread), 0)
}

/** The first number of a thread's `schedstat`; 0 for a thread that has just ended. */
function timeOfThread(pid: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  } catch {
    return 0
  }
}
