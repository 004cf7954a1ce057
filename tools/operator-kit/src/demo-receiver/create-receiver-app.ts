import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { openDeliveryStore, type Received } from './delivery-store.ts'
import { createSecretsFile, secretsSchema } from './secrets-file.ts'
import { pageOf, pageQuery } from '../shared/page.ts'
import { createRawApp, parseBody, rawBody } from '../shared/raw-app.ts'
import { verify } from '../verify-webhook.ts'

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
    const verifyBy = (known: readonly string[]) =>
      verify(request.headers, body, known, { nowS: at.getTime() / 1000 })
    const judged = await verifyBy(await secrets.read())
    const isOfSecret = !judged.ok && ['NO_SECRET', 'SIGNATURE_MISMATCH'].includes(judged.reason)
    // The secret may have been written a moment ago.
    const result = isOfSecret ? await verifyBy(await secrets.readNow()) : judged
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
    const problem = foreignPage(request)
    if (problem !== null) return reply.code(problem.status).send({ message: problem.message })
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

/**
 * Finds out whether a page that the developer visits may have sent the request: a browser lets any page post
 * a form or plain text to this machine. Null for no.
 */
function foreignPage({ headers }: FastifyRequest): { status: 403 | 415; message: string } | null {
  const { origin, host } = headers
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
  if (!isOwn) return { status: 403, message: 'This is not for pages of another origin.' }
  if (/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) return null
  return { status: 415, message: 'The content-type must be application/json.' }
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

const DELAY_MS_MAX = 600_000

/** Orders for the receiver instead of answering honestly. */
const behaviourSchema = z.strictObject({
  status: z.int().min(200).max(599).optional(),
  delay_ms: z.int().min(0).max(DELAY_MS_MAX).optional(),
  /** Sent as the `Retry-After` header, seconds or a date. */
  retry_after: z.union([z.int().min(0), z.string().max(64)]).optional(),
  drop: z.boolean().optional(),
  hang: z.boolean().optional(),
  /** Number of deliveries it holds for; until changed when absent. */
  count: z.int().min(1).optional(),
  path: z.string().optional(),
  type: z.string().optional(),
})
type Behaviour = z.infer<typeof behaviourSchema>

type BehaviourSwitch = {
  set(behaviour: Behaviour | null): void
  /** The behaviour in force with how often it was used, or null. */
  current(): (Behaviour & { used: number }) | null
  /** The behaviour for this delivery, counted; null for honest ones. */
  take(delivery: { path: string; type: string | null }): Behaviour | null
}

function createBehaviourSwitch(): BehaviourSwitch {
  let behaviour: Behaviour | null = null
  let used = 0
  return {
    set(next) {
      behaviour = next
      used = 0
    },
    current: () => (behaviour === null ? null : { ...behaviour, used }),
    take({ path, type }) {
      if (behaviour === null || used >= (behaviour.count ?? Number.POSITIVE_INFINITY)) return null
      if (behaviour.path !== undefined && behaviour.path !== path) return null
      if (behaviour.type !== undefined && behaviour.type !== type) return null
      used += 1
      return behaviour
    },
  }
}

/** The demo receiver's page: what arrived last and whether it verified. Reads `/demo/received`. */
const receiverPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Demo webhook receiver</title>
<style>
  body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #1c2430; background: #fbfbfa }
  h1 { font-size: 1.5rem } table { border-collapse: collapse; width: 100%; font-size: 0.85rem }
  th, td { text-align: left; padding: 0.25rem 0.6rem; border-bottom: 1px solid #dde1e6; vertical-align: top }
  td.bad { color: #a3261b; font-weight: 600 } pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 34rem }
</style>
</head>
<body>
<h1>Demo webhook receiver</h1>
<p>Verifies each delivery with the library that operators use and stores it before answering. <span id="total"></span> · <a href="/demo/received">as JSON</a></p>
<table><thead><tr><th>Received</th><th>Event</th><th>Attempt</th><th>Verified</th><th>Answer</th><th>Body</th></tr></thead><tbody id="rows"></tbody></table>
<script type="module">
const cell = (text, name = '') => Object.assign(document.createElement('td'), { textContent: text, className: name })
const show = async () => {
  const { data, total } = await (await fetch('/demo/received?latest=true&limit=50')).json()
  document.getElementById('total').textContent = total + ' deliveries'
  document.getElementById('rows').replaceChildren(...data.map((delivery) => {
    const line = document.createElement('tr')
    const body = document.createElement('td')
    const details = document.createElement('details')
    details.append(Object.assign(document.createElement('summary'), { textContent: delivery.event_id ?? 'no id' }), Object.assign(document.createElement('pre'), { textContent: delivery.raw_body }))
    body.append(details)
    line.append(cell(delivery.received_at), cell((delivery.event_type ?? '') + (delivery.duplicate ? ' (again)' : '')), cell(delivery.attempt ?? ''),
      delivery.verified ? cell('yes') : cell(delivery.reason, 'bad'), cell(delivery.answered_status ?? 'none'), body)
    return line
  }))
}
await show()
setInterval(show, 2000)
</script>
</body>
</html>
`
