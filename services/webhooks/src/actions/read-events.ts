import { createHash } from 'node:crypto'
import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import type { listEvents as listEventsEndpoint } from '@pitboss/contracts/endpoints/events'
import { eventId } from '@pitboss/contracts/primitives'
import { invalidField } from '@pitboss/errors/service-error'
import { usualWindowMs } from '@pitboss/storage/created-within'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { z } from 'zod'
import type { WebhooksContext } from '../context.ts'
import { readStreamSince } from '@pitboss/bus/read-stream-since'
import { eventSubject, webhooksFanout } from '@pitboss/bus/topology'
import type { StakeStanding } from '@pitboss/contracts/calls/rounds'
import type { opsRoundsStarted, showLoggedStake } from '@pitboss/contracts/calls/webhooks'
import { eventDataSchemas } from '@pitboss/contracts/objects/event'
import { readLoggedEvent, standingInEvents } from '@pitboss/contracts/logged-stake'

const dayMs = 24 * 60 * 60 * 1000
const manifestWindowMs = 31 * dayMs
const manifestPage = 2000
const startedPage = 200
const pageCharactersMax = 300_000
const deliveriesOfEventMax = 200
const roundEventsMax = 200

/** The first page fixes `from`. A restored log may give the number of `id`, recorded `at`, to another. */
const positionSchema = z.strictObject({
  ...{ seq: z.int().min(0), from: z.int() },
  ...{ id: eventId.optional(), at: z.int().optional() },
})

type Reads = Pick<WebhooksContext, 'events' | 'cursors' | 'clock'>
type EventsQuery = z.output<typeof listEventsEndpoint.query>
type Hour = { count: number; types: Record<string, number>; ids: ReturnType<typeof createHash> }

/* Reads of the event log. Source: docs/contract.md, sections 7, 10 and 11. */

/**
 * Reads a page in recording order. Its cursor continues after the last event, also when there is none yet;
 * after a restore of the log, what was recorded again is read again. @throws ServiceError VALIDATION_ERROR
 */
export async function listEvents({ events, cursors, clock }: Reads, scope: Scope, query: EventsQuery) {
  const { operatorId, environment } = scope
  const { cursor, type = null } = query
  const binding = ['events', operatorId, environment, type, query.from ?? 'default', query.to ?? null]
  const position = cursor === undefined ? null : positionSchema.parse(cursors.decode(binding, cursor))
  const to = query.to === undefined ? null : new Date(query.to)
  const usualMs = (to ?? clock.now()).getTime() - usualWindowMs
  const from = new Date(position?.from ?? query.from ?? usualMs)
  const end = await events.lastOf(scope)
  const afterSeq =
    position === null ? await events.seqBefore(scope, from) : await events.standing(scope, position, end)
  const types = type === null ? null : [type]
  const found = await events.readAfter(scope, afterSeq, query.limit, { types, from, to })
  const page = fitting(found)
  // Events up to `end` were recorded before the page was read: a page below its limit has seen them all.
  const sawAll = found.length < query.limit && page.length === found.length
  const last = page.at(-1)
  const { seq, id, recordedAt } = last === undefined || (sawAll && end.seq > last.seq) ? end : last
  const place = id === null ? {} : { id, at: recordedAt.getTime() }
  const next = { seq: Math.max(seq, afterSeq), from: from.getTime(), ...place }
  return { bodies: page.map(({ body }) => body), nextCursor: cursors.encode(binding, next) }
}

type StartedQuery = z.output<typeof opsRoundsStarted.request>
const startedEvent = z.object({ data: eventDataSchemas['round.started'] })

/** Reads a page of the rounds that began within a window, for operations. `next` is null after the last one. */
export async function listStarted({ events }: WebhooksContext, asked: StartedQuery) {
  const { scope, after } = asked
  const [from, to] = [new Date(asked.from), new Date(asked.to)]
  const seq = after ?? (await events.seqBefore(scope, from))
  const page = await events.readAfter(scope, seq, startedPage, { types: ['round.started'], from, to })
  const data = page.map(({ body }) => {
    const { round_id, player_id, game, currency, fairness } = startedEvent.parse(JSON.parse(body)).data
    return { round_id, player_id, game, currency, nonce: fairness.nonce }
  })
  return { data, next: page.length < startedPage ? null : (page.at(-1)?.seq ?? null) }
}

/** @returns the event's text. @throws ServiceError NOT_FOUND for an unknown, foreign or malformed id */
export async function findEvent({ events }: WebhooksContext, caller: Caller, id: string): Promise<string> {
  const scopes = eventId.safeParse(id).success ? lookupScopes(caller) : []
  return (await findInScopes(scopes, (scope) => events.find(scope, id))).body
}

/** Counts events by hour, with the SHA-256 of their ids. @throws VALIDATION_ERROR for over 31 days */
export async function readManifest({ events }: WebhooksContext, scope: Scope, from: Date, to: Date) {
  if (to.getTime() - from.getTime() > manifestWindowMs)
    throw invalidField('to', 'must be at most 31 days after from')
  const hours = new Map<string, Hour>()
  const end = await events.endOf(scope)
  for (let seq = await events.seqBefore(scope, from); seq < end; ) {
    const page = await events.headersAfter(scope, seq, manifestPage, { types: null, from, to })
    for (const event of page) {
      if (event.seq > end) break
      const hour = `${event.createdAt.toISOString().slice(0, 13)}:00:00.000Z`
      const entry = hours.get(hour) ?? { count: 0, types: {}, ids: createHash('sha256') }
      entry.count += 1
      entry.types[event.type] = (entry.types[event.type] ?? 0) + 1
      entry.ids.update(`${event.id}\n`)
      hours.set(hour, entry)
    }
    seq = page.length < manifestPage ? end : (page.at(-1)?.seq ?? end)
  }
  return [...hours]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([hour, { count, types, ids }]) => ({ hour, count, types, ids_sha256: ids.digest('hex') }))
}

/** Reads the events of a round in recording order, as many as one message holds, at most `limit`. */
export async function eventsOfRound(c: WebhooksContext, scope: Scope, roundId: string, limit: number) {
  const found = await c.events.ofRound(scope, roundId, limit + 1)
  const shown = fitting(found.slice(0, limit))
  return { bodies: shown.map(({ body }) => body), complete: shown.length === found.length }
}

export async function eventsOfRoundAnywhere({ events, history }: WebhooksContext, roundId: string) {
  const found = await events.ofRound(null, roundId, roundEventsMax)
  const deliveriesOf = (eventId: string) => history.list(null, { eventId }, deliveriesOfEventMax)
  return Promise.all(found.map(async ({ id, body }) => ({ body, deliveries: await deliveriesOf(id) })))
}

/** The part of a page that one message holds, at least one event. The cursor continues after it. */
function fitting<Item extends { body: string }>(found: readonly Item[]): Item[] {
  let characters = 0
  return found.filter(({ body }, index) => {
    characters += body.length
    return index === 0 || characters <= pageCharactersMax
  })
}

/** Read by sequence in about a second. After an outage of wallet-bridge there are fewer. Source: ours. */
const messagesMax = 20_000

/**
 * Reads what events say of a stake: recorded ones and, since this database may have been set back as well,
 * those of the stream. Only where the stream reaches back does silence mean that it was not taken.
 */
export async function readLoggedStake(
  { events, bus }: WebhooksContext,
  asked: z.output<typeof showLoggedStake.request>,
): Promise<StakeStanding> {
  const { scope, roundId, transactionId } = asked
  const since = new Date(asked.since)
  const standingOf = (bodies: readonly string[]) => {
    const found = bodies.flatMap((body) => readLoggedEvent(body) ?? [])
    return standingInEvents(found, { roundId, transactionId, since })
  }
  const recorded = await events.ofRound(scope, roundId, roundEventsMax)
  const standing = standingOf(recorded.map(({ body }) => body))
  if (standing !== 'silent') return standing
  const ofAccount = eventSubject(scope, '')
  const isMeant = ({ subject, data }: { subject: string; data: Uint8Array }) => {
    if (!subject.startsWith(ofAccount)) return false
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    return bytes.includes(roundId) || bytes.includes(`"${transactionId}"`)
  }
  const sent = await readStreamSince(bus, webhooksFanout.stream, { since, max: messagesMax, isMeant })
  if (sent === null) return 'unknown'
  const streamed = standingOf(sent.map(({ data }) => Buffer.from(data).toString('utf8')))
  return streamed === 'silent' ? 'not-taken' : streamed
}
