import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Milliseconds of the fixed calculation and of the fixed synced writes on the reference machine, quiet. */
const reference = { calculationMs: 30, syncedWritesMs: 5 }
const calculations = 20_000
/** The middle one counts: what else the machine does comes in bursts. */
const samples = 5
const syncedWrites = 20

export type MachineSpeed = {
  readonly calculationMs: number
  readonly syncedWritesMs: number
  /** How many times slower than the reference machine this one is at the moment; at least 1. */
  readonly slowness: number
}

/**
 * Times a fixed calculation and a fixed number of synced writes. Limits of tests scale with the calculation:
 * the engines of a test run sync nothing, so that a slow disk slows few tests.
 */
export function measureMachine(): MachineSpeed {
  const timings = Array.from({ length: samples }, () => timed(calculate)).toSorted((a, b) => a - b)
  const calculationMs = timings[Math.floor(samples / 2)] ?? 0
  const folder = mkdtempSync(join(tmpdir(), 'pitboss-speed-'))
  const syncedWritesMs = timed(() => {
    const file = openSync(join(folder, 'synced'), 'w')
    for (let count = 0; count < syncedWrites; count++) {
      writeSync(file, 'x'.repeat(4096))
      fsyncSync(file)
    }
    closeSync(file)
  })
  rmSync(folder, { recursive: true })
  return { calculationMs, syncedWritesMs, slowness: Math.max(1, calculationMs / reference.calculationMs) }
}

function calculate(): void {
  let digest = Buffer.alloc(32)
  for (let count = 0; count < calculations; count++) digest = createHash('sha256').update(digest).digest()
}

/** One line for people. */
export function describeMachine({ calculationMs, syncedWritesMs, slowness }: MachineSpeed): string {
  const figures = `calculation ${calculationMs.toFixed(0)} ms, ${syncedWrites} synced writes ${syncedWritesMs.toFixed(0)} ms`
  return `this machine is ${slowness.toFixed(1)} times as slow as the reference (${figures})`
}

function timed(work: () => void): number {
  const startedAt = performance.now()
  work()
  return performance.now() - startedAt
}
