import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { connectBus } from '@pitboss/bus/connect-bus'
import pino from 'pino'
import type { Cleanup } from '../harness/cleanup.ts'
import { createHttpClient } from '../harness/http-client.ts'
import type { Measured } from '../harness/measured.ts'
import { addWebhook, mintToken, openSession, registerWallet } from '../harness/operator.ts'
import { startEngines } from '../harness/start-engines.ts'
import { startServer } from '../harness/start-part.ts'
import { startProduct } from '../harness/start-product.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'
import { waitUntilIdle } from '../harness/wait-until-idle.ts'
import { type DisturbanceName, disturbanceNames, prepareDisturbance, titles } from './disturbances.ts'
import { measureHealthy, measures, newTally, type Tally } from './measure-healthy.ts'
import { startReceiver } from './receiver.ts'

export const strangerParts = disturbanceNames

/** Strangers begin earlier: the healthy tenant is looked at while they hold what they can. */
const leadS = 2
const ratioMax = 2
const players = 6
const connections = 64
/** More than an address has connections, so that the repeats do not wait for each other at the client. */
const strangerConnections = 1900
const idleWithinMs = 20_000

const preload = fileURLToPath(new URL('./use-name-server-main.ts', import.meta.url))

/**
 * A healthy tenant beside strangers, with the limits and bounds that the product has unless told otherwise:
 * for each kind of stranger by turns alone and beside. Judged is the p99 of each thing that the tenant does.
 */
export async function runStrangers(
  { parts, seconds, turns }: { parts: readonly DisturbanceName[]; seconds: number; turns: number },
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  say('starting engines and product')
  const folder = temporaryFolder('bench-strangers', cleanup)
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const names = await startServer('strangers/name-server-main.ts', {}, cleanup)
  const product = await startProduct({
    dataDir: join(folder, 'product'),
    logPath: join(folder, 'product.log'),
    environment: {
      MONGODB_URL: engines.mongodbUrl,
      NATS_URL: engines.natsUrl.product,
      NODE_OPTIONS: `--import ${preload}`,
      PITBOSS_LIMIT_NAME_SERVER: names.url,
    },
    cleanup,
  })
  const demo = product.demo()
  const http = createHttpClient(demo.base_url, connections)
  cleanup.add(() => http.close())
  const strangers = createHttpClient(demo.base_url, strangerConnections, '127.0.0.3')
  cleanup.add(() => strangers.close())
  const bus = await connectBus({
    url: engines.natsUrl.product,
    service: 'bench',
    logger: pino({ level: 'silent' }),
  })
  cleanup.add(() => bus.close())
  const receiver = await startReceiver(cleanup)

  const own = await startServer('round/wallet-main.ts', {}, cleanup)
  const wallet = await startServer('settlement/wallet-main.ts', {}, cleanup)
  await registerWallet(http, demo, `http://wallet.healthy.example:${new URL(own.url).port}`)
  await addWebhook(http, demo, `http://hooks.healthy.example:${receiver.port}/healthy`)
  const token = await mintToken(http, demo)
  const seats = await Promise.all(
    Array.from({ length: players }, (_, seat) =>
      openSession(http, token, { player_id: `healthy-${seat}`, game: 'dice', currency: 'USD' }),
    ),
  )
  const healthy = {
    token,
    sessionId: seats[0]?.sessionId ?? '',
    players: seats.map(({ launchToken }) => launchToken),
  }
  const measure = (tally: Tally) => measureHealthy({ http, healthy, receiver, seconds }, tally)
  await measure(newTally())

  const world = { bus, http: strangers, port: Number(new URL(demo.base_url).port), wallet, receiver, cleanup }
  const found: { name: DisturbanceName; alone: Tally; beside: Tally }[] = []
  for (const name of parts) {
    const disturb = await prepareDisturbance(name, world)
    const [alone, beside] = [newTally(), newTally()]
    for (let turn = 1; turn <= turns; turn++) {
      await waitUntilIdle({ busyMax: 0.2, withinMs: idleWithinMs }, say)
      await measure(alone)
      const end = await disturb(seconds + leadS)
      await delay(leadS * 1000)
      await measure(beside)
      await end()
      say(`${titles[name]}: turn ${turn} of ${turns}`)
    }
    if (name === 'endpoints') receiver.calm()
    found.push({ name, alone, beside })
  }
  return report(found, seconds * turns, engines.kinds)
}

function report(
  found: readonly { name: DisturbanceName; alone: Tally; beside: Tally }[],
  seconds: number,
  engines: object,
): Measured {
  const rows = found.flatMap(({ name, alone, beside }) => [
    [titles[name]],
    ...measures.map((measure) => {
      const [own, other] = [alone[measure].read(), beside[measure].read()]
      return [`  ${measure}`, ...latencyCells(own), ...latencyCells(other), (other.p99 / own.p99).toFixed(2)]
    }),
  ])
  const verdicts = found.map(({ name, alone, beside }) => {
    const worst = Math.max(...measures.map((one) => beside[one].read().p99 / alone[one].read().p99))
    const failures = [...beside.failures].map(([what, count]) => `${count} × ${what}`)
    const isFine = worst <= ratioMax && failures.length === 0
    const lost = failures.length === 0 ? 'nothing refused or lost' : failures.join(', ')
    return {
      name,
      worst,
      failures,
      text: `${isFine ? 'holds' : 'HELD UP'}: ${name}, p99 × ${Number.isNaN(worst) ? 'unknown' : worst.toFixed(2)}, ${lost}`,
    }
  })
  const header = ['healthy tenant', 'alone p50', 'p95', 'p99 ms', 'beside p50', 'p95', 'p99 ms', 'p99 ratio']
  return {
    result: {
      engines,
      strangers: found.map(({ name, alone, beside }) => ({
        name,
        alone: Object.fromEntries(measures.map((one) => [one, alone[one].read()])),
        beside: Object.fromEntries(measures.map((one) => [one, beside[one].read()])),
        failures: Object.fromEntries(beside.failures),
        failuresAlone: Object.fromEntries(alone.failures),
      })),
    },
    text: `A healthy tenant for ${seconds} s alone and ${seconds} s beside each stranger (20 reads/s, 3 rounds/s)

${renderTable(header, rows)}

${verdicts.map(({ text }) => text).join('\n')}
(goal: nothing refused, p99 at most ${ratioMax} times the p99 alone)`,
  }
}
