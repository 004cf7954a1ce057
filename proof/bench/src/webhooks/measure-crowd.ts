import { randomUUID } from 'node:crypto'
import type { Cleanup } from '../harness/cleanup.ts'
import type { Latency } from '../harness/latency.ts'
import type { Measured } from '../harness/measured.ts'
import { sendOpenLoop } from '../harness/send-open-loop.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import { until } from '../harness/until.ts'
import { addEndpoint, firstEndpoint } from './add-endpoint.ts'
import { createPublisher, type Publisher } from './publish-events.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { timeArrivals } from './time-arrivals.ts'
import { createWorld } from './start-service.ts'

const hanging = 20
const perSecond = 40
const healthyPath = '/healthy'

/**
 * One account with one endpoint that answers at once, at 40 events a second: first alone, then beside twenty
 * of the same account that never answer. The stretch begins with the first event that these get.
 */
export async function measureCrowd(
  seconds: number,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const world = await createWorld(cleanup)
  world.startService()
  const receiver = await startReceiver()
  cleanup.add(() => receiver.close())
  receiver.behave((path) => ({ kind: path === healthyPath ? 'ok' : 'hang' }))
  const operatorId = randomUUID()
  const publisher = await createPublisher(world.engines.natsUrl.product, operatorId)
  cleanup.add(() => publisher.close())
  await firstEndpoint(world.bus, operatorId, `${receiver.url}${healthyPath}`)

  say(`${perSecond} events/s for ${seconds} s, one endpoint alone`)
  await runStretch(publisher, receiver, 1)
  const alone = await runStretch(publisher, receiver, seconds)
  for (let number = 0; number < hanging; number++) {
    await addEndpoint(world.bus, operatorId, `${receiver.url}/hangs/${number}`)
  }
  say(`the same beside ${hanging} endpoints of the account that hang`)
  const beside = await runStretch(publisher, receiver, seconds)
  const ratio = beside.p95 / alone.p95
  const table = renderTable(
    ['the healthy endpoint', 'p50 ms', 'p95 ms', 'p99 ms'],
    [
      ['alone', ...latencyCells(alone)],
      [`beside ${hanging} that hang`, ...latencyCells(beside)],
    ],
  )
  return {
    result: { engines: world.engines.kinds, hanging, perSecond, seconds, alone, beside, ratio },
    text: `${perSecond} events/s of one account for ${seconds} s

${table}

p95 beside them to p95 alone: ${ratio.toFixed(2)} (goal: at most 2)`,
  }
}

/** From the stream's acknowledgement to the arrival at the healthy endpoint. */
async function runStretch(publisher: Publisher, receiver: Receiver, seconds: number): Promise<Latency> {
  const { latency, sent } = timeArrivals(receiver, (path) => path === healthyPath)
  const total = Math.round(perSecond * seconds)
  await sendOpenLoop(total, perSecond, async () => {
    sent(await publisher.publish())
  })
  await until('every event at the healthy endpoint', () => latency.count() >= total)
  return latency.read()
}
