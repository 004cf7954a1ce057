import { deliveryStatus } from '@pitboss/contracts/objects/webhook'
import { eventType } from '@pitboss/contracts/objects/event'
import { flagRule, flagStatus } from '@pitboss/contracts/objects/flag'
import { movementStatus, movementType } from '@pitboss/contracts/objects/movement'
import { roundStatus } from '@pitboss/contracts/objects/round'
import { sessionStatus } from '@pitboss/contracts/objects/session'
import { approvalStatus } from '@pitboss/contracts/objects/approval'
import { freeBetStatus } from '@pitboss/contracts/objects/game'
import { z } from 'zod'
import { expectStatus } from '../harness/http-client.ts'
import { createLatencyRecorder, type Latency } from '../harness/latency.ts'
import type { Measured } from '../harness/measured.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import type { DashboardWorld } from './dashboard-world.ts'

const goalMs = 150
const hourMs = 3_600_000
const ranges = { '1h': hourMs, '24h': 24 * hourMs, '7d': 168 * hourMs, '30d': 720 * hourMs }
const games = ['dice', 'mines', 'spin-bottle']
/** Reads of one list with one filter: as many as there is time for, the first apart. */
const readsMax = 20
const readsMin = 5
const timeMsMax = 2000

type ListQuery = Readonly<Record<string, string>>
type ListPlan = { readonly path: string; readonly windowed: boolean; readonly filters: Filters }
type Filters = Readonly<Record<string, readonly string[]>>
type ListMeasured = { readonly path: string; readonly query: string; readonly latency: Latency }

const firstRow = z.object({ data: z.array(z.record(z.string(), z.unknown())) })

/**
 * The first page of each list of the dashboard: without a filter, with each of its filters and each value of
 * those, and with each of its ranges. Filters by a name take one that is there and one that is not.
 */
export async function measureLists({
  http,
  token,
  seeded: { playerId },
  say,
}: Pick<DashboardWorld, 'http' | 'token' | 'seeded' | 'say'>): Promise<Measured> {
  const read = async (path: string, query: ListQuery) => {
    const asked = new URLSearchParams(query)
    return expectStatus(200, http.send('GET', `/v1/dashboard/${path}?${asked.toString()}`, { token }))
  }
  const valueOf = async (path: string, field: string) => {
    const [row] = firstRow.parse(JSON.parse(await read(path, {}))).data
    const value = row?.[field]
    return typeof value === 'string' ? value : 'nothing'
  }
  const measured: ListMeasured[] = []
  for (const { path, windowed, filters } of await planLists(playerId, valueOf)) {
    for (const query of queriesOf(filters, windowed)) {
      const latency = createLatencyRecorder()
      const untilMs = performance.now() + timeMsMax
      await read(path, query)
      while (latency.count() < readsMin || (latency.count() < readsMax && performance.now() < untilMs)) {
        const fromMs = performance.now()
        await read(path, query)
        latency.record(performance.now() - fromMs)
      }
      measured.push({ path, query: new URLSearchParams(query).toString(), latency: latency.read() })
    }
    say(`list of ${path}: ${slowest(measured, path).latency.p95.toFixed(1)} ms`)
  }
  const paths = [...new Set(measured.map(({ path }) => path))]
  const rows = paths.flatMap((path) => {
    const worst = slowest(measured, path)
    const plain = measured.find((one) => one.path === path)
    if (plain === undefined) return []
    return [
      [path, '', ...latencyCells(plain.latency)],
      ['', worst.query, ...latencyCells(worst.latency)],
    ]
  })
  const late = measured
    .filter(({ latency }) => latency.p95 > goalMs)
    .map(({ path, query }) => `${path}?${query}`)
  return {
    result: { lists: measured, late },
    text: `${renderTable(['first page of', 'its slowest filter', 'p50 ms', 'p95 ms', 'p99 ms'], rows)}

${measured.length} lists and filters; p95 later than ${goalMs} ms: ${late.length === 0 ? 'none, holds' : `${late.join(', ')}: TOO MUCH`}`,
  }
}

function slowest(measured: readonly ListMeasured[], path: string): ListMeasured {
  const [worst] = measured
    .filter((one) => one.path === path)
    .toSorted((a, b) => b.latency.p95 - a.latency.p95)
  if (worst === undefined) throw new Error(`nothing of ${path} was measured`)
  return worst
}

function queriesOf(filters: Filters, windowed: boolean): ListQuery[] {
  const named = Object.entries(filters).flatMap(([name, values]) =>
    values.map((value) => ({ [name]: value })),
  )
  const windows = windowed
    ? Object.values(ranges).map((ms) => ({ from: new Date(Date.now() - ms).toISOString() }))
    : []
  return [{}, ...named, ...windows]
}

async function planLists(
  playerId: string,
  valueOf: (path: string, field: string) => Promise<string>,
): Promise<ListPlan[]> {
  const player = { player_id: [playerId, 'nobody'] }
  const list = (path: string, filters: Filters, windowed = true) => ({ path, windowed, filters })
  return [
    list('rounds', { ...player, game: games, status: roundStatus.options }),
    list('sessions', { ...player, status: sessionStatus.options }),
    list('transactions', {
      ...player,
      type: movementType.options,
      status: movementStatus.options,
      round_id: [await valueOf('transactions', 'round_id'), 'nothing'],
    }),
    list('events', { type: eventType.options }),
    list('webhook-deliveries', {
      status: deliveryStatus.options,
      event_type: [...eventType.options, 'webhook.test'],
      event_id: [await valueOf('webhook-deliveries', 'event_id'), 'nothing'],
      webhook_id: [await valueOf('webhook-deliveries', 'webhook_id'), 'nothing'],
    }),
    list('request-logs', {
      api_key: [await valueOf('request-logs', 'api_key'), 'nothing'],
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      status: ['200', '404'],
      code: ['VALIDATION_ERROR'],
      path: ['/v1/sessions', '/v1/free-bets'],
      request_id: [await valueOf('request-logs', 'request_id'), 'nothing'],
    }),
    list('free-bets', { ...player, game: games, status: freeBetStatus.options }),
    list('flags', { ...player, status: flagStatus.options, rule: flagRule.options }),
    list('audit', { actor: ['nobody'], act: ['credential.create'], object: ['nothing'] }),
    list('approvals', { status: approvalStatus.options }, false),
    list('credentials', {}, false),
    list('webhooks', {}, false),
    list('users', {}, false),
    list('brands', {}, false),
    list('views', {}, false),
    list('returns', {}, false),
    list('games', {}, false),
    ...games.map((game) => list(`players/${playerId}/fairness/${game}`, { from_nonce: ['100'] }, false)),
  ]
}
