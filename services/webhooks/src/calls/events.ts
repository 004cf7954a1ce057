import { createHash } from 'node:crypto'
import { handler, type CallHandler } from '@pitboss/bus/serve-calls'
import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import {
  dashboardGetEvent,
  dashboardListEvents,
  getEvent,
  getEventManifest,
  listEvents,
} from '@pitboss/contracts/endpoints/webhooks'
import { toHappening } from '@pitboss/contracts/environments'
import type { EventType } from '@pitboss/contracts/objects/event'
import { eventId, type SetupEnvironment } from '@pitboss/contracts/primitives'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { z } from 'zod'
import type { EventStore } from '../storage/event-store.ts'
import { eventView } from '../records/views.ts'

const dayMs = 24 * 60 * 60 * 1000
export const defaultWindowMs = 7 * dayMs
const manifestWindowMs = 31 * dayMs
const manifestPage = 2000
const pageCharactersMax = 300_000

/** Where a poller goes on: after `seq`; `from` is fixed by the first page, so that a slow poller never loses its place. */
const positionSchema = z.strictObject({ seq: z.int().min(0), from: z.int() })

type EventsDeps = { events: EventStore; cursors: CursorCodec; clock: Clock }
type EventQuery = {
  type?: EventType | undefined
  from?: string | undefined
  to?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** Event history by polling. Source: specification "GET /v1/events", contract sections 7 and 11. */
export function eventHandlers(deps: EventsDeps): CallHandler[] {
  const { events } = deps
  return [
    handler(listEvents.call, async ({ caller, query }) => listPage(deps, caller.scope, query)),
    handler(dashboardListEvents.call, async ({ caller, query }) =>
      listPage(deps, queryScope(caller, query.environment), query),
    ),
    handler(getEvent.call, async ({ caller, params }) => showEvent(events, [caller.scope], params.event_id)),
    handler(dashboardGetEvent.call, async ({ caller, params, query }) =>
      showEvent(events, idScopes(caller, query.environment), params.event_id),
    ),
    handler(getEventManifest.call, async ({ caller, query }) => ({
      status: 200,
      body: await manifest(events, caller.scope, new Date(query.from), new Date(query.to)),
    })),
  ]
}

/** The scope of a list: what the query names, else the caller's. */
export function queryScope(caller: Caller, environment: SetupEnvironment | undefined): Scope {
  if (environment === undefined) return caller.scope
  return { operatorId: caller.scope.operatorId, environment: toHappening(environment) }
}

/** The scopes in which an object named by its id may be found. */
export function idScopes(caller: Caller, environment: SetupEnvironment | undefined): Scope[] {
  return environment === undefined ? lookupScopes(caller) : [queryScope(caller, environment)]
}

async function listPage({ events, cursors, clock }: EventsDeps, scope: Scope, query: EventQuery) {
  const binding = [
    'events',
    scope.operatorId,
    scope.environment,
    query.type ?? null,
    query.from ?? 'default',
    query.to ?? null,
  ]
  const position = query.cursor === undefined ? null : readPosition(cursors.decode(binding, query.cursor))
  const to = query.to === undefined ? null : new Date(query.to)
  const from = position === null ? windowStart(query, to, clock.now()) : new Date(position.from)
  const lastSeq = await events.lastSeq(scope)
  const afterSeq = position?.seq ?? (await events.seqBefore(scope, from))
  const types = query.type === undefined ? null : [query.type]
  const found = await events.page(scope, { types, from, to }, afterSeq, query.limit)
  const page = fitting(found)
  const lastOfPage = page.at(-1)?.seq ?? afterSeq
  // Up to lastSeq everything was there before the page was read: a page that found less than its limit has seen all of it.
  const sawAll = found.length < query.limit && page.length === found.length
  const seq = sawAll ? Math.max(lastOfPage, lastSeq, afterSeq) : lastOfPage
  return {
    status: 200,
    body: {
      data: page.map(({ body }) => eventView(body)),
      next_cursor: cursors.encode(binding, { seq, from: from.getTime() }),
    },
  }
}

/** As much of a page as one message holds, at least one event; the cursor goes on behind it. */
function fitting<Item extends { body: string }>(found: readonly Item[]): Item[] {
  let characters = 0
  return found.filter(({ body }, index) => {
    characters += body.length
    return index === 0 || characters <= pageCharactersMax
  })
}

function windowStart(query: EventQuery, to: Date | null, now: Date): Date {
  if (query.from !== undefined) return new Date(query.from)
  return new Date((to ?? now).getTime() - defaultWindowMs)
}

function readPosition(value: unknown): z.infer<typeof positionSchema> {
  const parsed = positionSchema.safeParse(value)
  if (!parsed.success) throw invalidField('cursor', 'is damaged or belongs to another list')
  return parsed.data
}

async function showEvent(events: EventStore, scopes: readonly Scope[], id: string) {
  if (eventId.safeParse(id).success) {
    for (const scope of scopes) {
      const event = await events.find(scope, id)
      if (event !== null) return { status: 200, body: eventView(event.body) }
    }
  }
  throw new ServiceError('NOT_FOUND')
}

type Hour = { count: number; types: Record<string, number>; ids: ReturnType<typeof createHash> }

/** Per hour of `created_at` the counts, and SHA-256 over the ids in recording order, each followed by a newline. */
async function manifest(events: EventStore, scope: Scope, from: Date, to: Date) {
  if (to.getTime() - from.getTime() > manifestWindowMs)
    throw invalidField('to', 'must be at most 31 days after from')
  const hours = new Map<string, Hour>()
  const end = await events.lastSeq(scope)
  for (let seq = await events.seqBefore(scope, from); seq < end; ) {
    const page = await events.headers(scope, { types: null, from, to }, seq, manifestPage)
    for (const event of page) {
      if (event.seq > end) break
      const hour = `${event.createdAt.toISOString().slice(0, 13)}:00:00.000Z`
      const entry = hours.get(hour) ?? { count: 0, types: {}, ids: createHash('sha256') }
      entry.count += 1
      entry.types[event.type] = (entry.types[event.type] ?? 0) + 1
      entry.ids.update(`${event._id}\n`)
      hours.set(hour, entry)
    }
    seq = page.length < manifestPage ? end : (page.at(-1)?.seq ?? end)
  }
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    operator_id: scope.operatorId,
    environment: scope.environment,
    hours: [...hours]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([hour, { count, types, ids }]) => ({ hour, count, types, ids_sha256: ids.digest('hex') })),
  }
}
