import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { errorCode } from '../engine-error.ts'
import { isAlive, processStartedAt } from './process-record.ts'
import { waitUntil } from './wait-until.ts'

export type Claim = { release: () => void }
export type ClaimResult = { claim: Claim } | { heldBy: number }

/** A takeover lasts microseconds; a guard older than this was left by a crash. */
const guardAgeMsMax = 5_000
const attemptsMax = 50

/**
 * Claims a name for this process by a file that says who holds it. A claim whose holder is dead is taken
 * over; a crash therefore never leaves a lock that somebody must remove by hand.
 *
 * The file appears complete or not at all (written aside, then linked), and a stale one is removed only under
 * a second file, after it was read again, so that two who find it stale cannot remove each other's new claim.
 */
export function claimFile(path: string): ClaimResult {
  const own = `${process.pid} ${processStartedAt(process.pid)}\n`
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    if (createWith(path, own)) return { claim: { release: () => releaseOwn(path, own) } }
    const holder = livingHolder(path)
    if (holder !== null) return { heldBy: holder }
    removeStale(path)
  }
  throw new Error(`${path} could not be claimed in ${attemptsMax} attempts`)
}

/**
 * Claims a name as `claimFile` does, and waits as long as a living process holds it.
 * @returns null when the time is over.
 */
export function waitForClaim(
  path: string,
  timeoutMs: number,
  onHeld: (pid: number) => void = () => {},
): Promise<Claim | null> {
  const claim = () => {
    const result = claimFile(path)
    if ('claim' in result) return result.claim
    onHeld(result.heldBy)
    return null
  }
  return waitUntil(claim, { timeoutMs, everyMs: 100 })
}

function createWith(path: string, content: string): boolean {
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(aside, content)
  try {
    linkSync(aside, path)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

function livingHolder(path: string): number | null {
  const [pid, startedAt] = (readIfThere(path) ?? '').trim().split(' ')
  if (pid === undefined || startedAt === undefined) return null
  return isAlive(Number(pid), startedAt) ? Number(pid) : null
}

function removeStale(path: string): void {
  const guard = `${path}.takeover`
  if (!createWith(guard, '')) {
    if (ageMs(guard) > guardAgeMsMax) rmSync(guard, { force: true })
    return
  }
  try {
    if (livingHolder(path) === null) rmSync(path, { force: true })
  } finally {
    rmSync(guard, { force: true })
  }
}

function releaseOwn(path: string, own: string): void {
  if (readIfThere(path) === own) rmSync(path, { force: true })
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

function ageMs(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
}
