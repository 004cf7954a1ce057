import { setTimeout as delay } from 'node:timers/promises'
import type { ServiceLinks } from '../network/service-links.ts'
import type { Random } from '../random.ts'
import type { FaultCounts } from './fault-counts.ts'

const restMs = { least: 1500, most: 6000 }
/** As machines are off whose clocks nobody looks after. */
const offsetMs = { least: -1500, most: 1500 }
/**
 * The furthest that a clock of a run is off, in ms: checks that compare times of two clocks allow it twice.
 */
export const clockOffMs = 20_000
const stepMs = { least: 3000, most: clockOffMs }
/**
 * Leases of the others hold as long as clocks agree to within them: a call of the wallet-bridge to within 3
 * s.
 */
const stepped = ['gateway', 'auth', 'rounds']

/** Sets the clocks of single processes off and steps them, forwards and back, until the run ends. */
export async function disturbClocks({
  links,
  random,
  counts,
  stopping,
  note,
}: {
  links: ServiceLinks
  random: Random
  counts: FaultCounts
  stopping: AbortSignal
  note: (text: string) => void
}): Promise<void> {
  while (!stopping.aborted) {
    await delay(random.between(restMs.least, restMs.most), undefined, { signal: stopping }).catch(
      () => undefined,
    )
    if (stopping.aborted) break
    const link = random.pick(links.all())
    const isOff = link.clockOffsetMs() !== 0 && random.chance(0.5)
    const isStep = random.chance(0.3) && stepped.includes(link.service)
    const sign = random.chance(0.5) ? 1 : -1
    const offset = isOff
      ? 0
      : isStep
        ? sign * random.between(stepMs.least, stepMs.most)
        : random.between(offsetMs.least, offsetMs.most)
    link.setClock(offset)
    counts.add(
      isOff ? 'clock set right' : isStep ? `clock stepped ${sign > 0 ? 'ahead' : 'back'}` : 'clock off',
    )
    note(`${link.service} (probe ${link.probePort}): clock ${offset} ms off`)
  }
}
