import type { ServiceLinks } from '../network/service-links.ts'
import { type Disturber, disturbRepeatedly } from './disturber.ts'

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

/**
 * Sets the clocks of single processes off and steps them, forwards and back, until the run ends; then all are
 * right at once, since what other faults have changed is put back by the services.
 */
export async function disturbClocks({ links, ...given }: Disturber & { links: ServiceLinks }): Promise<void> {
  const { random, counts, note } = given
  await disturbRepeatedly(given, restMs, () => {
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
  })
  for (const link of links.all()) link.setClock(0)
}
