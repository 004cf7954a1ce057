import { verify } from '@pitboss/operator-kit/verify-webhook'
import { z } from 'zod'
import { DemoError, eventually, expectAnswer } from '../demo-http.ts'
import type { Received } from '../receiver-view.ts'
import type { Tour } from '../tour.ts'
import type { TourEndpoint } from './tour-endpoint.ts'

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
