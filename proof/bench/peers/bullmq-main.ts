import { createHmac } from 'node:crypto'
import { Queue, Worker } from 'bullmq'
import { given, servePart } from '../src/harness/serve-part.ts'

/*
 * A sender of webhooks on BullMQ: a job per event, which Redis has on its disk before `add` answers, and a
 * worker that posts each with an HMAC. Jobs that are done stay, as deliveries do.
 */

const connection = { host: '127.0.0.1', port: Number(given('REDIS_PORT')) }
const addedAtOnce = 32
const secret = 'whsec_of_the_benchmark'

type Job = { id: string; body: string }
type Order = { events: readonly Job[]; url: string; inFlight: number }
let count = 0

async function deliver(url: string, { id, body }: Job): Promise<void> {
  const timestamp = String(Date.now())
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('hex')
  const headers = {
    'content-type': 'application/json',
    'x-svc-event-id': id,
    'x-svc-timestamp': timestamp,
    'x-svc-signature': signature,
  }
  const answer = await fetch(url, { method: 'POST', headers, body })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`answered ${answer.status}`)
}

servePart({ ready: true }, async (message) => {
  const { events, url, inFlight } = message as Order
  const name = `deliveries-${count++}`
  const queue = new Queue<Job>(name, { connection })
  const options = { connection, concurrency: inFlight }
  const worker = new Worker<Job>(name, (job) => deliver(url, job.data), options)
  await worker.waitUntilReady()
  const left = [...events]
  const add = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop())
      await queue.add('event', next, { attempts: 12, backoff: { type: 'exponential', delay: 1000 } })
  }
  await Promise.all(Array.from({ length: addedAtOnce }, add))
  for (;;) {
    const { active = 0, waiting = 0 } = await queue.getJobCounts('active', 'waiting')
    if (active + waiting === 0) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await worker.close()
  await queue.close()
  return { sent: events.length }
})
