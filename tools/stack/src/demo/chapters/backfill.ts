import { z } from 'zod'
import { DemoError, eventually, expectAnswer } from '../demo-http.ts'
import type { Tour } from '../tour.ts'
import type { TourEndpoint } from './tour-endpoint.ts'

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
