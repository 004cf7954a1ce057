import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cleanup } from '../harness/cleanup.ts'
import { createHttpClient } from '../harness/http-client.ts'
import { raisedLimits } from '../harness/raised-limits.ts'
import { runLoad, type Sample } from '../harness/run-load.ts'
import { median } from '../harness/run-pairs.ts'
import { startEngines } from '../harness/start-engines.ts'
import { startProduct } from '../harness/start-product.ts'
import { renderTable } from '../harness/table.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'
import { prepareBase } from './prepare-base.ts'
import { processorTimeBelow, processorTimes } from './processor-time.ts'
import { type WorkloadName, workloads } from './workloads.ts'

/** After a turn, for what goes on behind the answers: events, deliveries. */
const settleMs = 2000
const warmUpMs = 4000
const replicated = ['gateway', 'rounds', 'wallet-bridge', 'webhooks']

/**
 * One turn of one build: its sample and the processor time of each service, of all of them and of the
 * engines, in microseconds per request.
 */
type Turn = {
  sample: Sample
  perRequestUs: Readonly<Record<string, number>>
  totalUs: number
  enginesUs: number
}
type Turns = { now: Turn; base: Turn }[]

/**
 * Compares this build with that of a git ref by the processor time of their services per request: both run
 * at once on the same engines, with databases and a NATS account of their own, and take turns.
 */
export async function runCompare(
  {
    name,
    ref,
    callers: concurrency,
    replicas,
    turns,
    durationMs,
  }: {
    name: WorkloadName
    ref: string
    callers: number
    /** Of each service but auth. */
    replicas: number
    turns: number
    durationMs: number
  },
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<{ result: object; text: string }> {
  const folder = temporaryFolder(`bench-${name}-base`, cleanup)
  say(`installing ${ref}`)
  const baseEntry = prepareBase(ref, join(folder, 'source'), cleanup)
  say('starting engines and both builds')
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const runners: number[] = []
  const now = await startSide('now', engines.natsUrl.product)
  const base = await startSide('base', engines.natsUrl.base, baseEntry)
  await now(warmUpMs)
  await base(warmUpMs)
  const measured: Turns = []
  for (let turn = 1; turn <= turns; turn++) {
    const pair = { now: await now(durationMs), base: await base(durationMs) }
    measured.push(pair)
    const us = `${pair.now.totalUs.toFixed(0)} µs, base ${pair.base.totalUs.toFixed(0)} µs per request`
    say(`turn ${turn} of ${turns}: ${us}`)
  }
  return {
    result: { engines: engines.kinds, ref, turns: measured },
    text: render(measured, ref),
  }

  async function startSide(side: string, natsUrl: string, entry?: string) {
    const product = await startProduct({
      dataDir: join(folder, side),
      logPath: join(folder, `${side}.log`),
      flags: replicas === 1 ? [] : ['--replicas', replicated.map((one) => `${one}=${replicas}`).join()],
      environment: {
        ...raisedLimits,
        MONGODB_URL: engines.mongodbUrl,
        NATS_URL: natsUrl,
        PITBOSS_DATABASE_PREFIX: `pitboss_${side}`,
      },
      ...(entry === undefined ? {} : { entry }),
      cleanup,
    })
    runners.push(product.pid)
    const http = createHttpClient(product.demo().base_url, concurrency)
    cleanup.add(() => http.close())
    const work = await workloads[name](http, product.demo())
    return async (durationMs: number): Promise<Turn> => {
      const before = processorTimes(product.demo())
      const enginesBefore = processorTimeBelow(process.pid, runners)
      const sample = await runLoad({ concurrency, durationMs, work })
      await delay(settleMs)
      const after = processorTimes(product.demo())
      const enginesNs = processorTimeBelow(process.pid, runners) - enginesBefore
      const perRequestUs = Object.fromEntries(
        [...after].map(([service, ns]) => [service, (ns - (before.get(service) ?? 0)) / 1000 / sample.count]),
      )
      return {
        sample,
        perRequestUs,
        totalUs: Object.values(perRequestUs).reduce((sum, us) => sum + us, 0),
        enginesUs: enginesNs / 1000 / sample.count,
      }
    }
  }
}

function render(turns: Turns, ref: string): string {
  const services = Object.keys(turns[0]?.now.perRequestUs ?? {})
  const row = (label: string, pick: (turn: Turn) => number) => {
    const [now, base] = [turns.map((turn) => pick(turn.now)), turns.map((turn) => pick(turn.base))]
    const ratios = turns.map((turn) => pick(turn.now) / pick(turn.base))
    return [label, median(now).toFixed(0), median(base).toFixed(0), median(ratios).toFixed(3)]
  }
  return [
    `Processor time per request in µs, medians of ${turns.length} turns; the ratio is the median of the turns' ratios.`,
    renderTable(
      ['', 'this build', ref, 'ratio'],
      [
        row('all services', ({ totalUs }) => totalUs),
        ...services.map((service) => row(service, ({ perRequestUs }) => perRequestUs[service] ?? 0)),
        row('engines', ({ enginesUs }) => enginesUs),
        row('services and engines', ({ totalUs, enginesUs }) => totalUs + enginesUs),
        row('requests per second', ({ sample }) => sample.rate),
      ],
    ),
  ].join('\n\n')
}
