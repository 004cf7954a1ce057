import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const hasProc = existsSync('/proc/self/stat')

/**
 * Start time of a process, as a word that only equals itself: with the pid it names one process for good, so
 * that a pid that was given to another process is never taken for ours. Null when there is no such (living)
 * process.
 */
export function processStartedAt(pid: number): string | null {
  return hasProc ? fromProc(pid) : fromPs(pid)
}

/** Whether the very process that was recorded still lives. */
export function isAlive(pid: number, startedAt: string): boolean {
  return processStartedAt(pid) === startedAt
}

function fromProc(pid: number): string | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  // the name in parentheses may hold anything, so count from its end: state is field 3, the start time field
  // 22
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ended = fields[0] === 'Z' || fields[0] === 'X'
  return ended ? null : (fields[19] ?? null)
}

function fromPs(pid: number): string | null {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return text === '' ? null : text.replaceAll(/\s+/g, '_')
  } catch {
    return null
  }
}
