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
    times.set(name, (times.get(name) ?? 0) + processorTimeOf(pid))
  }
  return times
}

/**
 * Nanoseconds that the living processes below `pid` have spent so far, without those below one of `without`.
 * Linux only.
 */
export function processorTimeBelow(pid: number, without: readonly number[]): number {
  const children = Map.groupBy(processes(), ({ parent }) => parent)
  const below = (parent: number): number =>
    (children.get(parent) ?? [])
      .filter((child) => !without.includes(child.pid))
      .reduce((sum, child) => sum + processorTimeOf(child.pid) + below(child.pid), 0)
  return below(pid)
}

function processes(): { pid: number; parent: number }[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      // The name of the program, in brackets, may hold anything; state and parent follow it.
      const fields = readFileSync(`/proc/${Number(name)}/stat`, 'utf8')
        .split(') ')
        .at(-1)
        ?.split(' ')
      return [{ pid: Number(name), parent: Number(fields?.[1]) }]
    } catch {
      return []
    }
  })
}

/** Nanoseconds that all threads of a process have spent so far; 0 for one that has just ended. Linux only. */
export function processorTimeOf(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.reduce((sum, thread) => sum + timeOfThread(pid, thread), 0)
  } catch {
    return 0
  }
}

/** The first number of a thread's `schedstat`; 0 for a thread that has just ended. */
function timeOfThread(pid: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  } catch {
    return 0
  }
}
