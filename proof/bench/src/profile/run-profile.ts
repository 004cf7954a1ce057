import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { processorTimes } from '../compare/processor-time.ts'
import { workloads } from '../compare/workloads.ts'
import type { Cleanup } from '../harness/cleanup.ts'
import { createHttpClient } from '../harness/http-client.ts'
import type { Measured } from '../harness/measured.ts'
import { raisedLimits } from '../harness/raised-limits.ts'
import { runLoad } from '../harness/run-load.ts'
import { startEngines } from '../harness/start-engines.ts'
import { startProduct } from '../harness/start-product.ts'
import { renderTable } from '../harness/table.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'
import { type CpuProfile, readCpuProfile } from './cpu-profile.ts'

const concurrency = 32
const warmUpMs = 4000
const settleMs = 2000
const shown = 10
const services = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks']

type Profiled = { service: string; perRoundUs: number; profile: CpuProfile }

/**
 * Plays rounds of dice with 32 callers for `durationMs` and shows where each service spends its processor
 * time: its ten hottest functions and packages by self time, as Node's sampling profiler sees them.
 */
export async function runProfile(
  durationMs: number,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const folder = temporaryFolder('bench-profile', cleanup)
  const profiles = join(folder, 'profiles')
  mkdirSync(profiles)
  say('starting engines and product')
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const product = await startProduct({
    dataDir: join(folder, 'product'),
    logPath: join(folder, 'product.log'),
    environment: {
      ...raisedLimits,
      MONGODB_URL: engines.mongodbUrl,
      NATS_URL: engines.natsUrl.product,
      NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profiles}`,
    },
    cleanup,
  })
  const startedAt = performance.now()
  const demo = product.demo()
  const http = createHttpClient(demo.base_url, concurrency)
  cleanup.add(() => http.close())
  const work = await workloads.round(http, demo)
  await runLoad({ concurrency, durationMs: warmUpMs, work })
  const sinceUs = (performance.now() - startedAt) * 1000
  const before = processorTimes(demo)
  const sample = await runLoad({ concurrency, durationMs, work })
  await delay(settleMs)
  const after = processorTimes(demo)
  say(`${sample.rate.toFixed(0)} rounds/s; ending the services, which writes their profiles`)
  const pids = new Map(demo.processes.map(({ name, pid }) => [String(pid), name]))
  await product.stop()
  const profiled = readdirSync(profiles).flatMap((name): Profiled[] => {
    const service = pids.get(name.split('.')[3] ?? '')
    if (service === undefined || !services.includes(service)) return []
    const ns = (after.get(service) ?? 0) - (before.get(service) ?? 0)
    const profile = readCpuProfile(join(profiles, name), sinceUs)
    return [{ service, perRoundUs: ns / 1000 / sample.count, profile }]
  })
  return { result: { engines: engines.kinds, sample, profiled }, text: render(profiled) }
}

function render(profiled: readonly Profiled[]): string {
  return profiled
    .map(({ service, perRoundUs, profile }) => {
      const rows = (entries: CpuProfile['functions']) =>
        entries.slice(0, shown).map(([name, us]) => [name, `${((us / profile.busyUs) * 100).toFixed(1)} %`])
      const title = `${service}: ${perRoundUs.toFixed(0)} µs per round`
      return `${title}\n\n${renderTable(['package', 'self'], rows(profile.packages))}\n\n${renderTable(['function', 'self'], rows(profile.functions))}`
    })
    .join('\n\n')
}
