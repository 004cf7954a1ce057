import { scopeKey } from '@pitboss/contracts/caller'
import { setTimeout as delay } from 'node:timers/promises'
import { placeMovement } from '@pitboss/contracts/calls/wallet'
import { z } from 'zod'
import type { Cleanup } from '../harness/cleanup.ts'
import type { Measured } from '../harness/measured.ts'
import { type Part, startPart } from '../harness/start-part.ts'
import { renderTable } from '../harness/table.ts'
import { makeMovement, newRound } from './make-movement.ts'
import { type Bridge, type BridgeOperator, startBridge } from './start-bridge.ts'

/** Calls that the resolver of one process keeps in flight to one wallet. */
const connections = 32
const placedAtOnce = 32
/**
 * Time for which the wallet stays down after the last movement was placed: each has failed several times by
 * then.
 */
const outageMs = 10_000
/**
 * An instant wallet shows what the product costs; one that takes as long as a real one may be what limits it.
 */
const answersAfterMs = [0, 100] as const
const bareWithinMs = 300_000

const bareTook = z.object({ tookMs: z.number() })

type Recovery = {
  afterMs: number
  placedPerS: number
  /** From the wallet's health to the first success, to half, to 99 % and to the last one. */
  firstMs: number
  halfMs: number
  mostMs: number
  lastMs: number
  bareMs: number
  /** Ratio of the whole time, and of the time from the first to the last. */
  ratio: number
  drainRatio: number
}

/**
 * Credits that wait for a wallet that was down, once it answers: how long until the last one is resolved,
 * against the same number of calls from one script with as many connections. The time scale is 1: the retry
 * retry schedule of the product is as it is in production.
 */
export async function measureRecovery(
  count: number,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  say('recovery: starting engines and wallet-bridge')
  const bridge = await startBridge(cleanup)
  const { part: bare } = await startPart('settlement/bare-calls-main.ts', {}, cleanup)
  const recoveries: Recovery[] = []
  for (const afterMs of answersAfterMs) {
    const operator = await bridge.addOperator(`after-${afterMs}`)
    say(`${count} credits while the wallet is down; then it answers after ${afterMs} ms`)
    recoveries.push(await recover({ bridge, operator, bare, count, afterMs }))
  }
  const seconds = (ms: number) => (ms / 1000).toFixed(2)
  const table = renderTable(
    [
      'wallet answers after',
      'placed/s',
      'first s',
      '50 % s',
      '99 % s',
      'last s',
      'bare s',
      'ratio',
      'drain ratio',
    ],
    recoveries.map(({ afterMs, placedPerS, firstMs, halfMs, mostMs, lastMs, bareMs, ratio, drainRatio }) => [
      `${afterMs} ms`,
      placedPerS.toFixed(0),
      ...[firstMs, halfMs, mostMs, lastMs, bareMs].map(seconds),
      ratio.toFixed(2),
      drainRatio.toFixed(2),
    ]),
  )
  return {
    result: { engines: bridge.engines.kinds, pending: count, connections, recoveries },
    text: `Recovery with ${count} credits pending, since the wallet is healthy (goal: at most 1.5 times the bare calls)

${table}`,
  }
}

async function recover({
  bridge,
  operator,
  bare,
  count,
  afterMs,
}: {
  bridge: Bridge
  operator: BridgeOperator
  bare: Part
  count: number
  afterMs: number
}): Promise<Recovery> {
  await operator.behave({ kind: 'down' })
  const placingMs = performance.now()
  await placeCredits(bridge, operator, count)
  const placedPerS = count / ((performance.now() - placingMs) / 1000)
  await delay(outageMs)
  const waiting = await operator.pending()
  if (waiting !== count) throw new Error(`${waiting} of ${count} are pending while the wallet is down`)
  await operator.behave({ kind: 'ok', afterMs })
  const healedAtMs = Date.now()
  await operator.resolved()
  const resolvedMs = await resolvedAfterMs(bridge, operator, healedAtMs)
  const order = { url: operator.walletUrl, count, connections }
  const { tookMs: bareMs } = bareTook.parse(await bare.ask(order, bareWithinMs))
  const at = (share: number) => resolvedMs[Math.max(0, Math.ceil(share * resolvedMs.length) - 1)] ?? 0
  return {
    afterMs,
    placedPerS,
    firstMs: at(0),
    halfMs: at(0.5),
    mostMs: at(0.99),
    lastMs: at(1),
    bareMs,
    ratio: at(1) / bareMs,
    drainRatio: (at(1) - at(0)) / bareMs,
  }
}

async function placeCredits(bridge: Bridge, { scope }: BridgeOperator, count: number): Promise<void> {
  let left = count
  const place = async () => {
    while (left > 0) {
      left -= 1
      const spec = makeMovement('WIN', newRound('waiting'))
      const { outcome } = await bridge.bus.call(placeMovement, { scope, spec })
      if (outcome.kind !== 'pending') throw new Error(`a credit is ${outcome.kind} while the wallet is down`)
    }
  }
  await Promise.all(Array.from({ length: placedAtOnce }, place))
}

/**
 * Time at which each movement was resolved, in order; by the service's own record, on the same machine's
 * clock.
 */
async function resolvedAfterMs(
  { movements }: Bridge,
  { scope }: BridgeOperator,
  sinceMs: number,
): Promise<number[]> {
  const found = await movements
    .find({ walletKey: scopeKey(scope) })
    .project<{ updatedAt: Date; status: string }>({ updatedAt: 1, status: 1 })
    .toArray()
  const unsuccessful = found.filter(({ status }) => status !== 'SUCCESS').length
  if (unsuccessful > 0) throw new Error(`${unsuccessful} credits are not SUCCESS after the recovery`)
  return found.map(({ updatedAt }) => updatedAt.getTime() - sinceMs).toSorted((a, b) => a - b)
}
