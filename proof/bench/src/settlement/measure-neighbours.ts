import { setTimeout as delay } from 'node:timers/promises'
import { placeMovement } from '@pitboss/contracts/calls/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Cleanup } from '../harness/cleanup.ts'
import { createLatencyRecorder } from '../harness/latency.ts'
import type { Measured } from '../harness/measured.ts'
import { runLoad, type Sample } from '../harness/run-load.ts'
import { median, type Summary, summarise } from '../harness/run-pairs.ts'
import { sendOpenLoop } from '../harness/send-open-loop.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import { byTurns, makeMovement, newRound } from './make-movement.ts'
import { type Bridge, type BridgeOperator, startBridge } from './start-bridge.ts'

const capacityCallers = 16
const capacitySecondsMax = 5
/** Share of the rate that A alone reaches; B asks for as much again. */
const loadShare = 0.3
/**
 * B begins earlier: A is looked at while B's calls fill every place, while they time out and while the
 * breaker is open.
 */
const leadMs = 2000

const cases = ['alone', 'beside', 'hanging'] as const
type Case = (typeof cases)[number]
const titles: Readonly<Record<Case, string>> = {
  alone: 'A alone',
  beside: "beside B's as many, healthy",
  hanging: "beside B's as many, which all hang",
}
type Stretch = Sample & { neighbour: { asked: number; done: number } }

/**
 * A's movements in an open loop: alone, beside as many of B's, and beside as many of B's whose wallet takes
 * every call and never answers. The three take turns; between them B's wallet heals and everything of B is
 * resolved.
 */
export async function measureNeighbours(
  { seconds, turns }: { seconds: number; turns: number },
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  say('neighbours: starting engines and wallet-bridge')
  const bridge = await startBridge(cleanup)
  const a = await bridge.addOperator('a')
  const b = await bridge.addOperator('b')
  const capacity = await measureCapacity(bridge, a, Math.min(seconds, capacitySecondsMax) * 1000)
  const perSecond = capacity * loadShare
  say(`capacity ${capacity.toFixed(0)}/s; each operator ${perSecond.toFixed(0)}/s for ${seconds} s`)
  const stretches: Record<Case, Stretch[]> = { alone: [], beside: [], hanging: [] }
  for (let turn = 1; turn <= turns; turn++) {
    for (const each of cases) {
      await b.behave(each === 'hanging' ? { kind: 'hang' } : { kind: 'ok', afterMs: 0 })
      const neighbour = each === 'alone' ? null : b
      const stretch = await runStretch({ bridge, own: a, neighbour, perSecond, seconds })
      stretches[each].push(stretch)
      say(`turn ${turn} of ${turns}, ${titles[each]}: p99 ${stretch.latencyMs.p99.toFixed(1)} ms`)
      await b.behave({ kind: 'ok', afterMs: 0 })
      await b.resolved()
      await bridge.published()
    }
  }
  const ratioOf = (of: Case, to: Case) =>
    median(
      stretches[of].map(({ latencyMs }, turn) => latencyMs.p99 / (stretches[to][turn]?.latencyMs.p99 ?? 1)),
    )
  const ratios = {
    beside: ratioOf('beside', 'alone'),
    hanging: ratioOf('hanging', 'alone'),
    hangingToBeside: ratioOf('hanging', 'beside'),
  }
  const rows = cases.map((each) => rowOf(titles[each], summarise(stretches[each])))
  const header = ["A's movements", 'per s', 'p50 ms', 'p95 ms', 'p99 ms', 'failed']
  return {
    result: { engines: bridge.engines.kinds, capacity, perSecond, ratios, stretches },
    text: `Neighbours, ${perSecond.toFixed(0)} movements/s of each for ${seconds} s, medians of ${turns} turns

${renderTable(header, rows)}

p99 beside a wallet that hangs to p99 beside a healthy one: ${ratios.hangingToBeside.toFixed(2)} (goal: at most 1.1); each to p99 alone: ${ratios.hanging.toFixed(2)}, ${ratios.beside.toFixed(2)}`,
  }
}

async function measureCapacity(bridge: Bridge, a: BridgeOperator, durationMs: number): Promise<number> {
  const work = byTurns(async (spec) => {
    await bridge.bus.call(placeMovement, { scope: a.scope, spec })
  })
  const run = () => runLoad({ concurrency: capacityCallers, durationMs, work, finish: bridge.published })
  await run()
  return (await run()).rate
}

async function runStretch({
  bridge,
  own,
  neighbour,
  perSecond,
  seconds,
}: {
  bridge: Bridge
  own: BridgeOperator
  neighbour: BridgeOperator | null
  perSecond: number
  seconds: number
}): Promise<Stretch> {
  const latency = createLatencyRecorder()
  const total = Math.ceil(perSecond * seconds)
  let failed = 0
  let neighbourDone = 0
  const asked = neighbour === null ? 0 : Math.ceil(perSecond * (seconds + leadMs / 1000))
  const besides =
    neighbour === null
      ? null
      : sendOpenLoop(asked, perSecond, async (number) => {
          if (await moves(bridge, neighbour, number)) neighbourDone += 1
        })
  if (besides !== null) await delay(leadMs)
  const fromMs = performance.now()
  const rate = await sendOpenLoop(total, perSecond, async (number) => {
    const sentMs = performance.now()
    if (await moves(bridge, own, number)) latency.record(performance.now() - sentMs)
    else failed += 1
  })
  const took = (performance.now() - fromMs) / 1000
  await besides
  return {
    concurrency: 0,
    seconds: took,
    count: latency.count(),
    failed,
    rate,
    latencyMs: latency.read(),
    neighbour: { asked, done: neighbourDone },
  }
}

/**
 * A stake or a win by turns, each of a round of its own.
 * @returns whether it was done: what waits for its wallet and what the breaker refuses is not.
 */
async function moves({ bus }: Bridge, { scope }: BridgeOperator, number: number): Promise<boolean> {
  const spec = makeMovement(number % 2 === 0 ? 'BET' : 'WIN', newRound(`player-${number}`))
  return bus.call(placeMovement, { scope, spec }).then(
    ({ outcome }) => outcome.kind === 'done',
    (error: unknown) => {
      if (error instanceof ServiceError) return false
      throw error
    },
  )
}

function rowOf(title: string, { rate, latencyMs, failed }: Summary): string[] {
  return [title, rate.toFixed(0), ...latencyCells(latencyMs), String(failed)]
}
