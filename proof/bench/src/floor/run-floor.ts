import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { prepareBase } from '../compare/prepare-base.ts'
import { processorTimeBelow, processorTimeOf, processorTimes } from '../compare/processor-time.ts'
import { workloads } from '../compare/workloads.ts'
import type { Cleanup } from '../harness/cleanup.ts'
import { createHttpClient, expectStatus } from '../harness/http-client.ts'
import type { Measured } from '../harness/measured.ts'
import { registerWallet } from '../harness/operator.ts'
import { raisedLimits } from '../harness/raised-limits.ts'
import { runLoad, type Sample } from '../harness/run-load.ts'
import { median } from '../harness/run-pairs.ts'
import { startEngines } from '../harness/start-engines.ts'
import { startPart, startServer } from '../harness/start-part.ts'
import { startProduct } from '../harness/start-product.ts'
import { renderTable } from '../harness/table.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'

/** Callers at once, in the order of the turns. */
const concurrencies = [32, 1] as const
/** After a turn, for what goes on behind the answers. */
const settleMs = 2000
const idleMs = 6000

type Side = {
  name: string
  work(caller: number): Promise<void>
  /** Nanoseconds of processor time that its services have spent so far. */
  spentNs(): number
}
type Turn = {
  side: string
  concurrency: number
  sample: Sample
  /** Processor time per round in microseconds. */
  servicesUs: number
  enginesUs: number
}
type FloorPlan = {
  /** How long each turn is warmed before it is measured. */
  warmMs: number
  durationMs: number
  /** Turns of each side at each number of callers. */
  turns: number
  /** Another build that takes turns, too: a git ref. */
  base: string | undefined
}

/**
 * A round of dice, half of them won, by the product and by the least that does the same: journal by append,
 * group commit, events in batches, deliveries as ranges. All sides run at once on the same engines and take
 * turns, so the ratios count; the engines' share of a turn includes what the others do while they are idle.
 */
export async function runFloor(
  plan: FloorPlan,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const folder = temporaryFolder('bench-floor', cleanup)
  const baseEntry =
    plan.base === undefined ? undefined : prepareBase(plan.base, join(folder, 'source'), cleanup)
  say('starting engines and all sides')
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const wallet = await startServer('round/wallet-main.ts', {}, cleanup)
  const receiver = await startServer('floor/receiver-main.ts', {}, cleanup)
  const outside = [wallet.part.pid, receiver.part.pid]

  const sides = [await startBuild('product', engines.natsUrl.product)]
  if (baseEntry !== undefined) sides.push(await startBuild('base', engines.natsUrl.base, baseEntry))
  sides.push(await startBare())
  const enginesNs = () => processorTimeBelow(process.pid, outside)

  const idleFrom = enginesNs()
  await delay(idleMs)
  const idleMsPerS = (enginesNs() - idleFrom) / 1000 / idleMs
  say(`engines at rest: ${idleMsPerS.toFixed(0)} ms of processor time a second`)

  const turns: Turn[] = []
  for (const concurrency of concurrencies) {
    for (let turn = 0; turn < plan.turns; turn++) {
      for (const side of sides) turns.push(await takeTurn(side, concurrency))
    }
  }
  return {
    result: { engines: engines.kinds, base: plan.base ?? null, idle_engines_ms_per_s: idleMsPerS, turns },
    text: render(turns, sides),
  }

  async function takeTurn(side: Side, concurrency: number): Promise<Turn> {
    const { work } = side
    await runLoad({ concurrency, durationMs: plan.warmMs, work })
    await delay(settleMs)
    const [services, engine] = [side.spentNs(), enginesNs()]
    const sample = await runLoad({ concurrency, durationMs: plan.durationMs, work })
    await delay(settleMs)
    const perRound = (ns: number) => ns / 1000 / sample.count
    const turn = {
      side: side.name,
      concurrency,
      sample,
      servicesUs: perRound(side.spentNs() - services),
      enginesUs: perRound(enginesNs() - engine),
    }
    const ms = ((turn.servicesUs + turn.enginesUs) / 1000).toFixed(1)
    say(`${side.name}, ${concurrency} at once: ${sample.rate.toFixed(1)}/s, ${ms} ms a round`)
    return turn
  }

  async function startBuild(name: string, natsUrl: string, entry?: string): Promise<Side> {
    const build = await startProduct({
      dataDir: join(folder, name),
      logPath: join(folder, `${name}.log`),
      environment: {
        ...raisedLimits,
        MONGODB_URL: engines.mongodbUrl,
        NATS_URL: natsUrl,
        PITBOSS_DATABASE_PREFIX: `pitboss_${name}`,
      },
      ...(entry === undefined ? {} : { entry }),
      cleanup,
    })
    outside.push(build.pid)
    const demo = build.demo()
    const http = createHttpClient(demo.base_url, Math.max(...concurrencies))
    cleanup.add(() => http.close())
    await registerWallet(http, demo, wallet.url)
    return {
      name,
      work: await workloads.round(http, demo),
      spentNs: () => [...processorTimes(build.demo()).values()].reduce((sum, ns) => sum + ns, 0),
    }
  }

  async function startBare(): Promise<Side> {
    const environment = {
      MONGODB_URL: engines.mongodbUrl,
      NATS_URL: engines.natsUrl.floor,
      WALLET_URL: wallet.url,
      RECEIVER_URL: receiver.url,
    }
    const core = await startPart('floor/core-main.ts', environment, cleanup)
    const hooks = await startPart('floor/hooks-main.ts', environment, cleanup)
    const gateway = await startServer('floor/gateway-main.ts', environment, cleanup)
    const pids = [core, hooks, gateway].map(({ part }) => part.pid)
    outside.push(...pids)
    const http = createHttpClient(gateway.url, Math.max(...concurrencies))
    cleanup.add(() => http.close())
    const bet = { target: '50.00', direction: 'over' }
    const player = randomUUID()
    return {
      name: 'floor',
      work: async (caller) => {
        const body = { player: `${player}-${caller}`, stake: '1.00', bet, client_seed: 'bench' }
        await expectStatus(201, http.send('POST', '/play', { body }))
      },
      spentNs: () => pids.reduce((sum, pid) => sum + processorTimeOf(pid), 0),
    }
  }
}

function render(turns: readonly Turn[], sides: readonly Side[]): string {
  const rows = concurrencies.flatMap((concurrency) =>
    sides.map(({ name }) => {
      const own = turns.filter((turn) => turn.side === name && turn.concurrency === concurrency)
      const bare = turns.filter((turn) => turn.side === 'floor' && turn.concurrency === concurrency)
      const over = (pick: (turn: Turn) => number) => median(own.map(pick))
      const spent = ({ servicesUs, enginesUs }: Turn) => servicesUs + enginesUs
      const ratios = own.map((turn, index) => spent(turn) / spent(bare[index] ?? turn))
      const ms = (us: number) => (us / 1000).toFixed(2)
      return [
        `${name}, ${concurrency} at once`,
        over(({ sample }) => sample.rate).toFixed(1),
        over(({ sample }) => sample.latencyMs.p50).toFixed(1),
        over(({ sample }) => sample.latencyMs.p99).toFixed(1),
        ms(over(({ servicesUs }) => servicesUs)),
        ms(over(({ enginesUs }) => enginesUs)),
        ms(over(spent)),
        median(ratios).toFixed(2),
      ]
    }),
  )
  const header = ['', 'rounds/s', 'p50 ms', 'p99 ms', 'services ms', 'engines ms', 'both ms', '÷ floor']
  return `Processor time per round; medians of the turns, the ratio turn by turn.\n\n${renderTable(header, rows)}`
}
