import { seededBug } from '@pitboss/runtime/seeded-bug'
import type { PostWebhook } from './clients/post-webhook.ts'
import type { RecordEvents } from './actions/record-events.ts'

/** Seeded bugs of webhooks (see libs/runtime's seeded-bug.ts): each part goes through unchanged unless its bug is armed. */

const unsentEvery = 20
const leftOutEvery = 20

/** Says that it has sent what it has not, or sends something else. */
export function erringPost(post: PostWebhook): PostWebhook {
  if (seededBug('webhooks.acknowledged-unsent')) {
    let count = 0
    return async (request) => {
      count += 1
      if (count % unsentEvery !== 0) return post(request)
      const timings = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 0 }
      const told = { ok: true, httpStatus: 200, error: null, headers: new Map(), excerpt: null }
      return { ...told, durationMs: 0, timings }
    }
  }
  if (seededBug('webhooks.body-changed')) {
    return (request) => {
      const repeated = request.headers['x-svc-delivery-attempt'] !== '1'
      return post(repeated ? { ...request, body: `${request.body} ` } : request)
    }
  }
  return post
}

/** Has events acknowledged that it leaves out. */
export function erringRecordEvents(recordEvents: RecordEvents): RecordEvents {
  if (!seededBug('webhooks.event-left-out')) return recordEvents
  let count = 0
  return (messages) =>
    recordEvents(
      messages.filter(() => {
        count += 1
        return count % leftOutEvery !== 0
      }),
    )
}
