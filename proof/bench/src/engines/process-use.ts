import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Share of one core, and memory as the kernel shares it out (PSS). */
export type ProcessUse = { cpuPercent: number; memoryMb: number; processes: number }

const ticksPerSecond = 100
const bytesPerMb = 1024

/** Use of a process and its descendants over `ms`. Linux only. */
export async function measureUse(pid: number, ms: number): Promise<ProcessUse> {
  const before = ticksOf(familyOf(pid))
  const fromMs = performance.now()
  await delay(ms)
  const family = familyOf(pid)
  const seconds = (performance.now() - fromMs) / 1000
  return {
    cpuPercent: ((ticksOf(family) - before) / ticksPerSecond / seconds) * 100,
    memoryMb: memoryMbOf(family),
    processes: family.length,
  }
}

/** Memory of these processes as the kernel shares it out (PSS). Linux only. */
export function memoryMbOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + pssKb(pid), 0) / bytesPerMb
}

/** A process and its descendants. Linux only. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const parent = Number(statFields(Number(entry))[1] ?? 0)
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)])
  }
  const family = [pid]
  for (const member of family) family.push(...(children.get(member) ?? []))
  return family
}

function ticksOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const fields = statFields(pid)
    return sum + Number(fields[11] ?? 0) + Number(fields[12] ?? 0)
  }, 0)
}

/** The fields after the name, which may hold blanks itself: state, parent, … */
function statFields(pid: number): string[] {
  const text = readOrEmpty(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function pssKb(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0)
}

/** A process may end between two looks. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
