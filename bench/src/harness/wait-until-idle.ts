import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

const lookMs = 3000

/**
 * Waits until the machine has little to do: after a bulk load the database tidies up for a while, which no history that grew by being
 * played would show. Gives up after `withinMs`, and says so.
 * @param busyMax share of all cores, from 0 to 1
 */
export async function waitUntilIdle(
  { busyMax, withinMs }: { busyMax: number; withinMs: number },
  say: (text: string) => void,
): Promise<void> {
  const untilMs = performance.now() + withinMs
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
