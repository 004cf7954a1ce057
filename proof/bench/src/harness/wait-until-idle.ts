import { execFile } from 'node:child_process'
import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const lookMs = 3000

/**
 * Waits until the writes are on the disk and the machine has little to do: a bulk load leaves gigabytes to
 * write and to tidy up, which a history that grew by play does not. Gives up after `withinMs`, and says so.
 * @param busyMax share of all cores, from 0 to 1
 */
export async function waitUntilIdle(
  { busyMax, withinMs }: { busyMax: number; withinMs: number },
  say: (text: string) => void,
): Promise<void> {
  const untilMs = performance.now() + withinMs
  await promisify(execFile)('sync')
  let before = processorTime()
  while (performance.now() < untilMs) {
    await delay(lookMs)
    const after = processorTime()
    const busy = 1 - (after.idle - before.idle) / (after.all - before.all)
    if (busy <= busyMax) return
    before = after
  }
  say(`the machine is still busy after ${(withinMs / 1000).toFixed(0)} s`)
}

function processorTime(): { idle: number; all: number } {
  const times = cpus().map((core) => core.times)
  return {
    idle: times.reduce((sum, { idle }) => sum + idle, 0),
    all: times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0),
  }
}
