import { z } from 'zod'
import { defineEndpoint, forDashboard, everybody } from '../endpoint.ts'
import { eventEnvelopeSchema, eventType } from '../objects/event.ts'
import { count, givenInstant, pageQuery, windowQuery } from '../primitives.ts'

/** Routes of the event log, which webhooks answers. Source: docs/contract.md, sections 7 and 11. */

const eventFilters = { type: eventType.optional(), ...windowQuery, ...pageQuery }
/** `next_cursor` is never null here. */
const eventsPage = z.strictObject({ data: z.array(eventEnvelopeSchema), next_cursor: z.string() })
const eventParam = z.strictObject({ event_id: z.string().max(64) })
export const listEvents = defineEndpoint('GET /v1/events', {
  access: { 'operator-api': 'events:read' },
  subject: 'webhooks.v1.event.list',
  query: z.strictObject(eventFilters),
  reply: eventsPage,
})
export const getEvent = defineEndpoint('GET /v1/events/{event_id}', {
  access: { 'operator-api': 'events:read' },
  subject: 'webhooks.v1.event.show',
  params: eventParam,
  reply: eventEnvelopeSchema,
})
export const dashboardListEvents = forDashboard(listEvents, everybody)
export const dashboardGetEvent = forDashboard(getEvent, everybody)
export const manifestSchema = z.strictObject({
  from: z.string(),
  to: z.string(),
  operator_id: z.string(),
  environment: z.enum(['SANDBOX', 'LIVE']),
  hours: z.array(
    z.strictObject({
      hour: z.string(),
      count,
      types: z.record(z.string(), count),
      ids_sha256: z.string(),
    }),
  ),
})
export const getEventManifest = defineEndpoint('GET /v1/events/manifest', {
  access: { 'operator-api': 'events:read' },
  subject: 'webhooks.v1.event.manifest',
  query: z.strictObject({ from: givenInstant, to: givenInstant }),
  reply: manifestSchema,
  budgetMs: 30_000,
})
