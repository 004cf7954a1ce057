import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { controlLine } from './control-line.ts'
import { readLines } from './read-lines.ts'
import { shiftClock } from './shift-clock.ts'

/**
 * Runs a service as its own entry file does, or as the one of proof/bugs when `PITBOSS_BUG` is set, but on
 * the addresses and the clock that the chaos run gives it. `PITBOSS_PROOF_CONTROL` is the run's own address.
 */
export async function startDisturbed(service: string): Promise<void> {
  const { env } = process
  const control = connect(Number(env.PITBOSS_PROOF_CONTROL), '127.0.0.1')
  const hello = {
    service,
    probePort: Number(env.PITBOSS_PROBE_PORT),
    natsUrl: env.NATS_URL,
    mongodbUrl: env.MONGODB_URL,
  }
  control.write(`${JSON.stringify(hello)}\n`)
  // A run that has ended leaves the process as it is.
  control.on('error', () => undefined)
  const addressed = Promise.withResolvers<void>()
  control.on('close', () => addressed.reject(new Error('the chaos run has gone')))
  readLines(control, (line) => {
    const { natsUrl, mongodbUrl, clockOffsetMs } = controlLine.parse(JSON.parse(line))
    if (natsUrl !== undefined) env.NATS_URL = natsUrl
    if (mongodbUrl !== undefined) env.MONGODB_URL = mongodbUrl
    shiftClock(clockOffsetMs)
    addressed.resolve()
  })
  await addressed.promise
  control.unref()
  await import(entryOf(service).href)
}

function entryOf(service: string): URL {
  const bugged = new URL(`../../../bugs/src/${service}-main.ts`, import.meta.url)
  if ((process.env.PITBOSS_BUG ?? '') !== '' && existsSync(bugged)) return bugged
  return new URL(`../../../../services/${service}/src/main.ts`, import.meta.url)
}
