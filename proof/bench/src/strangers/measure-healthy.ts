import { z } from 'zod'
import type { HttpClient } from '../harness/http-client.ts'
import { createLatencyRecorder, type LatencyRecorder } from '../harness/latency.ts'
import { sendOpenLoop } from '../harness/send-open-loop.ts'
import type { Receiver } from './receiver.ts'

const readsPerSecond = 20
const roundsPerSecond = 3
/** A delivery that is later counts as failed. */
const deliveredWithinMs = 30_000

const played = z.object({ round_id: z.string() })

export const measures = ['reads', 'rounds', 'deliveries'] as const
type Measure = (typeof measures)[number]

/** Latencies of the healthy tenant over all stretches of one kind, and what was not answered as it should. */
export type Tally = Readonly<Record<Measure, LatencyRecorder>> & { failures: Map<string, number> }

export function newTally(): Tally {
  const recorder = createLatencyRecorder
  return { reads: recorder(), rounds: recorder(), deliveries: recorder(), failures: new Map() }
}

/** The healthy tenant's session, its server's token and its players' tokens. */
export type Healthy = { sessionId: string; token: string; players: readonly string[] }

/**
 * The healthy tenant at a rate that is far from any limit: reads of one session, rounds of dice by players in
 * turn, and the time from each round's answer to the arrival of its `round.completed`.
 */
export async function measureHealthy(
  {
    http,
    healthy,
    receiver,
    seconds,
  }: { http: HttpClient; healthy: Healthy; receiver: Receiver; seconds: number },
  tally: Tally,
): Promise<void> {
  const fail = (what: string) => tally.failures.set(what, (tally.failures.get(what) ?? 0) + 1)
  const read = async () => {
    const fromMs = performance.now()
    const { status } = await http.send('GET', `/v1/sessions/${healthy.sessionId}`, { token: healthy.token })
    if (status === 200) tally.reads.record(performance.now() - fromMs)
    else fail(`read ${status}`)
  }
  const play = async (number: number) => {
    const token = healthy.players[number % healthy.players.length] ?? ''
    const bet = { target: '50.00', direction: 'over' }
    const body = { stake: '1.00', bet, client_seed: 'bench' }
    const fromMs = performance.now()
    const { status, text } = await http.send('POST', '/v1/game/rounds', { token, body })
    const answeredMs = performance.now()
    if (status !== 201) return fail(`round ${status}`)
    tally.rounds.record(answeredMs - fromMs)
    const { round_id: roundId } = played.parse(JSON.parse(text))
    const atMs = await within(receiver.completed(roundId))
    if (atMs === null) return fail('delivery missing')
    tally.deliveries.record(Math.max(0, atMs - answeredMs))
  }
  const guarded = (one: (number: number) => Promise<unknown>, what: string) => async (number: number) => {
    await one(number).catch((error: unknown) => fail(`${what} ${String(error)}`))
  }
  await Promise.all([
    sendOpenLoop(readsPerSecond * seconds, readsPerSecond, guarded(read, 'read')),
    sendOpenLoop(roundsPerSecond * seconds, roundsPerSecond, guarded(play, 'round')),
  ])
}

async function within(arrival: Promise<number>): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), deliveredWithinMs)
  return Promise.race([arrival, promise]).finally(() => clearTimeout(timer))
}
