import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { secretsSchema } from '@pitboss/operator-kit/demo-receiver/secrets-file'
import { z } from 'zod'
import { dashboardToken } from '../dashboard-token.ts'
import { anything, expectAnswer } from '../demo-http.ts'
import type { Tour } from '../tour.ts'

const created = z.looseObject({ webhook_id: z.string(), secret: z.string(), created_at: z.string() })

/** A second webhook endpoint on the demo receiver, under a path of its own. */
export type TourEndpoint = {
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
