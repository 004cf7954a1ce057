import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { secretsSchema } from '@pitboss/operator-kit/demo-receiver/secrets-file'
import { z } from 'zod'
import { dashboardToken } from './dashboard-key.ts'
import { anything, expectAnswer, DemoError, eventually } from '../answers.ts'
import type { Tour } from '../tour.ts'
import { verify } from '@pitboss/operator-kit/verify-webhook'
import type { Received } from '../views.ts'

const created = z.looseObject({ webhook_id: z.string(), secret: z.string(), created_at: z.string() })

/** A second webhook endpoint on the demo receiver, under a path of its own. */
type TourEndpoint = {
  /** Its route in the dashboard. */
  url: string
  /** Token of the person who manages it. */
  person: string
  path: string
  secret: string
  createdAt: string
  /** Makes a signing secret known to the receiver. */
  addSecret(secret: string): Promise<unknown>
}

/** Creates the endpoint; it is deleted at the end and the receiver's secrets are put back as they were. */
export async function createTourEndpoint(tour: Tour): Promise<TourEndpoint> {
  const { api, dataDir, demo, log, run, atEnd } = tour
  const path = `/tour-${run}`
  log.step('A second webhook endpoint', `POST /v1/dashboard/webhooks for ${path} of the demo receiver`)
  const person = await dashboardToken(tour)
  const secretsUrl = new URL('/demo/secrets', demo.receiver.url).href
  const before = secretsSchema.parse(
    JSON.parse(await readFile(join(dataDir, 'receiver', 'secrets.json'), 'utf8')),
  )
  atEnd(() => expectAnswer(204, anything, 'PUT', secretsUrl, { body: before }))
  const addSecret = (secret: string) => expectAnswer(204, anything, 'POST', secretsUrl, { body: { secret } })

  const endpoint = await expectAnswer(201, created, 'POST', `${api}/dashboard/webhooks`, {
    token: person,
    body: {
      url: new URL(path, demo.receiver.url).href,
      environment: 'TEST',
      events: [],
      description: `Tour ${run}`,
    },
  })
  const url = `${api}/dashboard/webhooks/${endpoint.webhook_id}`
  atEnd(() => expectAnswer(204, anything, 'DELETE', url, { token: person }))
  await addSecret(endpoint.secret)
  log.happened(`${endpoint.webhook_id}; the receiver knows its secret, beside those of others`)
  return { url, person, path, secret: endpoint.secret, createdAt: endpoint.created_at, addSecret }
}

/** A receiver that fails once gets the same event again, by the schedule and not by anybody's hand. */
export async function failingReceiver(
  { demo, log, run, receiver, open, atEnd }: Tour,
  { path }: TourEndpoint,
): Promise<void> {
  log.step(
    'A webhook receiver that fails',
    'the receiver answers 500 to the next delivery; a session is opened all the same',
  )
  const behaviour = new URL('/demo/behaviour', demo.receiver.url).href
  const behaveAgain = () => expectAnswer(204, anything, 'DELETE', behaviour)
  atEnd(behaveAgain)
  await expectAnswer(200, anything, 'PUT', behaviour, { body: { status: 500, count: 1, path } })
  const { session } = await open('dice', `demo-${run}-failing`)
  const arrived = await eventually('the second attempt', async () => {
    const attempts = await receiver.list({ path, mentions: session.session_id })
    return attempts.some(({ answered_status }) => answered_status === 200) ? attempts : null
  })
  for (const { event_id, event_type, attempt, answered_status } of arrived)
    log.detail(
      'webhook',
      `${event_type ?? ''}  ${event_id ?? ''}  attempt ${attempt ?? '?'} → ${answered_status ?? 'no answer'}`,
      { type: event_type, event_id, attempt, answered_status },
    )
  const [first, second, ...others] = arrived
  if (
    first?.answered_status !== 500 ||
    first.attempt !== 1 ||
    second?.attempt !== 2 ||
    others.length > 0 ||
    new Set(arrived.map(({ raw_body }) => raw_body)).size !== 1
  )
    throw new DemoError('expected attempt 1 refused and attempt 2 accepted, with the same bytes')
  const laterS = (Date.parse(second.received_at) - Date.parse(first.received_at)) / 1000
  log.happened(`it recovered by itself: attempt 2 came ${laterS.toFixed(1)} s later with the same bytes`)
  await behaveAgain()
}

const overlapS = 3600
const rotated = z.looseObject({ secret: z.string(), previous_valid_until: z.string().nullable() })

/** A signing secret is changed without a moment in which either side is wrong. */
export async function secretRotation(
  { log, run, receiver, open }: Tour,
  { url, person, path, secret, addSecret }: TourEndpoint,
): Promise<void> {
  log.step(
    'A signing secret is rotated',
    `POST /v1/dashboard/webhooks/{webhook_id}/rotate-secret, both valid for ${overlapS} s`,
  )
  const next = await expectAnswer(200, rotated, 'POST', `${url}/rotate-secret`, {
    token: person,
    body: { overlap_s: overlapS },
  })
  await addSecret(next.secret)
  log.happened(`a new secret; the old one signs too until ${next.previous_valid_until ?? 'now'}`)
  const { session } = await open('dice', `demo-${run}-rotated`)
  const delivery = await eventually('the delivery after the rotation', async () => {
    const [first] = await receiver.list({ path, mentions: session.session_id })
    return first ?? null
  })
  const signatures = String(delivery.headers['x-svc-signature']).match(/v1=/g)?.length ?? 0
  if (!delivery.verified || signatures !== 2)
    throw new DemoError(`expected two signatures that verify: ${JSON.stringify(delivery.headers)}`)
  for (const [name, known] of [
    ['new', next.secret],
    ['old', secret],
  ] as const) {
    if (!(await verifies(delivery, known))) throw new DemoError(`the ${name} secret does not verify`)
    log.detail('webhook', `${delivery.event_type ?? ''}  verifies with the ${name} secret alone`, {
      secret: name,
      event_id: delivery.event_id,
    })
  }
  log.happened(`the receiver accepted it: ${signatures} signatures over the same bytes`)
}

async function verifies({ headers, raw_body, received_at }: Received, secret: string): Promise<boolean> {
  const nowS = Date.parse(received_at) / 1000
  return (await verify(headers, raw_body, [secret], { nowS })).ok
}

const job = z.looseObject({
  replay_id: z.string(),
  status: z.string(),
  matched: z.number(),
  created: z.number(),
  delivered: z.number(),
  failed: z.number(),
})

/** An endpoint gets what happened before it existed. */
export async function backfill(
  { log, startedAt, receiver }: Tour,
  { url, person, path, createdAt }: TourEndpoint,
): Promise<void> {
  log.step(
    'What the new endpoint missed',
    'POST /v1/dashboard/webhooks/{webhook_id}/replay of what is missing since the tour began',
  )
  const before = new Set((await receiver.list({ path })).map(({ event_id }) => event_id))
  const { replay_id } = await expectAnswer(202, job, 'POST', `${url}/replay`, {
    token: person,
    body: { from: startedAt, to: createdAt, only: 'missing' },
  })
  const done = await eventually('the end of the replay', async () => {
    const now = await expectAnswer(200, job, 'GET', `${url}/replays/${replay_id}`, { token: person })
    return now.status === 'RUNNING' ? null : now
  })
  const { status, matched, created, delivered, failed } = done
  const arrived = (await receiver.list({ path })).filter(({ event_id }) => !before.has(event_id))
  const accepted = new Set(arrived.filter(({ verified }) => verified).map(({ event_id }) => event_id))
  if (status !== 'DONE' || created === 0 || delivered !== created || accepted.size !== created)
    throw new DemoError(`expected everything to arrive, ${accepted.size} did: ${JSON.stringify(done)}`)
  const types = Map.groupBy(arrived, ({ event_type }) => event_type ?? '')
  for (const [type, rows] of types)
    log.detail('webhook', `${type}  ${rows.length} times, signatures verified`, { type, count: rows.length })
  log.happened(
    `${matched} were missing, ${delivered} delivered, ${failed} failed: job ${replay_id} is done`,
    {
      matched,
      created,
      delivered,
      failed,
    },
  )
}
