import { readFileSync } from 'node:fs'

const ticksPerSecond = 100

/** Processor time of this process, user and system, in seconds. */
export function ownCpuSeconds(): number {
  const { userCPUTime, systemCPUTime } = process.resourceUsage()
  return (userCPUTime + systemCPUTime) / 1e6
}

/** The same of all its children that have ended, and of theirs; 0 where the system does not say it. */
export function childrenCpuSeconds(): number {
  if (process.platform !== 'linux') return 0
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond
}
