import type { WebhooksWrap } from '@pitboss/webhooks/open-context'
import type { DeliveryStore } from '@pitboss/webhooks/storage/delivery-store'
import type { RangeStore } from '@pitboss/webhooks/storage/range-store'
import type { HasBug } from './bugs.ts'
import type { PostWebhook } from '@pitboss/webhooks/clients/post-webhook'
import type { RecordEvents } from '@pitboss/webhooks/actions/record-events'
import type { EventLog } from '@pitboss/webhooks/storage/event-log'

/** The bugs of webhooks. Each part goes through unchanged unless its bug is named. */

/** What goes around the parts of a webhooks service that errs. */
export function webhooksWith(has: HasBug): Omit<WebhooksWrap, 'db'> {
  return {
    post: (post) => postWith(post, has),
    recordEvents: (record) => recordEventsWith(record, has),
    ranges: (store) => rangesWith(store, has),
    deliveries: (store) => deliveriesWith(store, has),
    events: (log) => eventsWith(log, has),
  }
}

const unsentEvery = 20
const leftOutEvery = 20

/** Says that it has sent what it has not, or sends something else or elsewhere. */
function postWith(post: PostWebhook, has: HasBug): PostWebhook {
  if (has('webhooks.acknowledged-unsent')) {
    let count = 0
    return async (request) => {
      count += 1
      if (count % unsentEvery !== 0) return post(request)
      const timings = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 0 }
      const told = { ok: true, httpStatus: 200, error: null, headers: {}, excerpt: null }
      return { ...told, durationMs: 0, timings, oddities: [] }
    }
  }
  if (has('webhooks.body-changed')) {
    return (request) => {
      const repeated = request.headers['x-svc-delivery-attempt'] !== '1'
      return post(repeated ? { ...request, body: `${request.body} ` } : request)
    }
  }
  if (has('webhooks.attempt-not-counted')) {
    return (request) => post({ ...request, headers: { ...request.headers, 'x-svc-delivery-attempt': '1' } })
  }
  if (has('webhooks.endpoint-remembered')) {
    let url: string | null = null
    return (request) => {
      url ??= request.url
      return post({ ...request, url })
    }
  }
  return post
}

/** Goes on one event too late where a poller follows its cursor. */
function eventsWith(events: EventLog, has: HasBug): EventLog {
  if (!has('webhooks.cursor-skips-one')) return events
  return {
    ...events,
    readAfter: (scope, afterSeq, ...rest) =>
      events.readAfter(scope, afterSeq === 0 ? 0 : afterSeq + 1, ...rest),
  }
}

/** Has events acknowledged that it leaves out. */
function recordEventsWith(recordEvents: RecordEvents, has: HasBug): RecordEvents {
  if (!has('webhooks.event-left-out')) return recordEvents
  let count = 0
  return (messages) =>
    recordEvents(
      messages.filter(() => {
        count += 1
        return count % leftOutEvery !== 0
      }),
    )
}

/** Passes events that were not sent, or takes over as if nothing had been sent. */
function rangesWith(ranges: RangeStore, has: HasBug): RangeStore {
  if (has('webhooks.range-too-far')) {
    return {
      ...ranges,
      insert: (endpoint, range, write) => ranges.insert(endpoint, { ...range, to: range.to + 1 }, write),
    }
  }
  return ranges
}

/** Passes events whose deliveries are not stored. */
function deliveriesWith(deliveries: DeliveryStore, has: HasBug): DeliveryStore {
  if (!has('webhooks.put-aside-forgotten')) return deliveries
  return { ...deliveries, insertAbsent: async () => undefined }
}
