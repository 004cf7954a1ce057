import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { pageOf, pageQuery } from '../shared/page.ts'
import { createRawApp, parseBody, rawBody } from '../shared/raw-app.ts'
import { verify } from '../verify-webhook.ts'
import { type Behaviour, behaviourSchema, createBehaviourSwitch } from './behaviour.ts'
import { openDeliveryStore, type Received } from './delivery-store.ts'
import { receiverPage } from './receiver-page.ts'
import { createSecretsFile, secretsSchema } from './secrets-file.ts'

export type ReceiverAppOptions = { dataDir: string; secretsFile: string; now?: () => Date }

const receivedQuery = pageQuery.extend({
  type: z.string().optional(),
  id: z.string().optional(),
  path: z.string().optional(),
  verified: z.enum(['true', 'false']).optional(),
})

/**
 * A webhook receiver as an operator would write one: verify the raw bytes, store durably, then answer 200.
 * Every POST outside `/demo` is a delivery. Not listening yet; closing the app closes its file.
 */
export async function createReceiverApp(options: ReceiverAppOptions): Promise<FastifyInstance> {
  const { dataDir, secretsFile, now = () => new Date() } = options
  const store = await openDeliveryStore(dataDir)
  const secrets = createSecretsFile(secretsFile)
  const behaviour = createBehaviourSwitch()
  const app = createRawApp()
  app.addHook('onClose', () => store.close())

  app.post('/*', async (request, reply) => {
    const body = rawBody(request.body)
    const at = now()
    const result = await verify(request.headers, body, await secrets.read(), { nowS: at.getTime() / 1000 })
    const path = request.url
    const eventType = headerText(request, 'x-svc-event-type')
    const commanded = behaviour.take({ path, type: eventType })
    const status = commanded?.status ?? (result.ok ? 200 : 401)
    const silent = commanded?.drop === true || commanded?.hang === true
    if (commanded?.delay_ms !== undefined) await delay(commanded.delay_ms)
    await store.add({
      received_at: at.toISOString(),
      path,
      headers: presentHeaders(request),
      verified: result.ok,
      reason: result.ok ? null : result.reason,
      event_id: headerText(request, 'x-svc-event-id'),
      event_type: eventType,
      attempt: Number(headerText(request, 'x-svc-delivery-attempt') ?? 'NaN') || null,
      answered_status: silent ? null : status,
      raw_body: body.toString('utf8'),
    })
    if (silent) return keepSilent(request, reply, commanded)
    if (commanded?.retry_after !== undefined) void reply.header('retry-after', String(commanded.retry_after))
    return reply
      .code(status)
      .send(result.ok ? { received: true } : { reason: result.reason, message: result.message })
  })

  app.put('/demo/secrets', async (request, reply) => {
    await secrets.write(parseBody(secretsSchema, request.body).secrets)
    return reply.code(204).send()
  })
  app.post('/demo/secrets', async (request, reply) => {
    const { secret } = parseBody(z.strictObject({ secret: z.string().min(1).max(256) }), request.body)
    const known = await secrets.read()
    if (!known.includes(secret)) await secrets.write([secret, ...known].slice(0, 20))
    return reply.code(204).send()
  })
  app.get('/demo/behaviour', async () => behaviour.current() ?? {})
  app.put('/demo/behaviour', async (request) => {
    behaviour.set(parseBody(behaviourSchema, request.body))
    return behaviour.current()
  })
  app.delete('/demo/behaviour', async (_request, reply) => {
    behaviour.set(null)
    return reply.code(204).send()
  })
  app.get('/demo/received', async (request) => {
    const query = receivedQuery.parse(request.query)
    const page = pageOf(store.list().filter(matching(query)), query)
    return { ...page, data: page.data.map((delivery) => ({ ...delivery, event: parsedEvent(delivery) })) }
  })
  app.delete('/demo/received', async (_request, reply) => {
    await store.clear()
    return reply.code(204).send()
  })
  app.get('/healthz', async () => ({ status: 'ok' }))
  for (const path of ['/', '/demo']) {
    app.get(path, async (_request, reply) => reply.type('text/html; charset=utf-8').send(receiverPage))
  }
  return app
}

function matching(query: z.infer<typeof receivedQuery>): (delivery: Received) => boolean {
  return (delivery) =>
    (query.type === undefined || delivery.event_type === query.type) &&
    (query.id === undefined || delivery.event_id === query.id) &&
    (query.path === undefined || delivery.path === query.path) &&
    (query.verified === undefined || delivery.verified === (query.verified === 'true'))
}

// A body is looked into only after it has verified.
function parsedEvent({ verified, raw_body: body }: Received): unknown {
  if (!verified) return null
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}

function keepSilent(request: FastifyRequest, reply: FastifyReply, commanded: Behaviour | null): void {
  reply.hijack()
  if (commanded?.drop === true) request.raw.socket.destroy()
}

function presentHeaders(request: FastifyRequest): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = value
  }
  return headers
}

function headerText(request: FastifyRequest, name: string): string | null {
  const value = request.headers[name]
  return typeof value === 'string' ? value : null
}
