import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Product } from '@pitboss/bench/harness/start-product'
import { type Disturber, disturbRepeatedly, rest } from './disturber.ts'
import { findEngines } from './find-processes.ts'

const restMs = { least: 6000, most: 15_000 }
const fullMs = { least: 1000, most: 6000 }
const blocks = [1 << 20, 1 << 12]

export type SmallDisk = {
  /** Takes all the space that is left. */
  fill(): void
  /** Gives it back. */
  clear(): void
  unmount(): void
}

/**
 * A disk of its own for an engine's folder, which must be empty: memory of the machine, for which Linux and
 * the rights of root are needed.
 * @throws Error that says why it cannot be had.
 */
export function mountSmallDisk(folder: string, megabytes: number): SmallDisk {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const options = `size=${megabytes}m,mode=755`
  const { status, stderr, error } = spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  if (status !== 0) throw new Error(`no disk can be mounted: ${String(error ?? stderr).trim()}`)
  const ballast = join(folder, 'ballast')
  return {
    fill() {
      const file = openSync(ballast, 'a')
      try {
        for (const bytes of blocks) writeAll(file, Buffer.alloc(bytes))
      } finally {
        closeSync(file)
      }
    },
    clear: () => rmSync(ballast, { force: true }),
    unmount: () => void spawnSync('/bin/umount', ['--lazy', folder]),
  }
}

/**
 * Fills the disk for some seconds now and then, until the run ends. A nats-server that has met a full disk
 * takes no more publishes until it is started again, so that is done, as its operator would.
 */
export async function disturbDisk({
  product,
  disk,
  ...given
}: Disturber & { product: Product; disk: SmallDisk }): Promise<void> {
  const { random, counts, stopping, note } = given
  await disturbRepeatedly(given, restMs, async () => {
    const ms = random.between(fullMs.least, fullMs.most)
    counts.add('disk of NATS full')
    note(`the disk of NATS is full for ${ms} ms`)
    disk.fill()
    await rest(ms, stopping)
    disk.clear()
    const server = findEngines(product).find(({ name }) => name === 'nats-server')
    if (server !== undefined) process.kill(server.pid, 'SIGKILL')
  })
}

function writeAll(file: number, block: Buffer): void {
  for (;;) {
    try {
      if (writeSync(file, block) < block.length) return
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return
      throw error
    }
  }
}
