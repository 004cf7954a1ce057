import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../results/', import.meta.url))

/** Writes the result and the machine's data to `proof/bench/results/`. @returns the file's path. */
export function writeResult(name: string, result: object): string {
  mkdirSync(folder, { recursive: true })
  const at = new Date().toISOString()
  const path = join(folder, `${name}-${at.replace(/[:.]/g, '-')}.json`)
  const machine = {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    memory_bytes: totalmem(),
    load_average: loadavg(),
    node: process.version,
  }
  writeFileSync(path, `${JSON.stringify({ name, at, machine, ...result }, null, 2)}\n`)
  return path
}
