import Fastify, { type FastifyInstance } from 'fastify'
import { verify } from '../src/verify-webhook.ts'

export type ReceiverOptions = {
  /** The endpoint's secret, or the new and the old one while it is being rotated. */
  secrets: readonly string[]
  /** Stores the event durably unless its id is stored already, as a unique index does. */
  storeOnce: (eventId: string, rawBody: Buffer) => Promise<void>
}

/** A receiver with fastify: the raw body first, JSON afterwards. */
export function createFastifyReceiver({ secrets, storeOnce }: ReceiverOptions): FastifyInstance {
  const app = Fastify({ bodyLimit: 1024 * 1024 })
  // Fastify's own parser would throw the bytes away that were signed.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.post('/webhooks', async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const result = await verify(request.headers, body, secrets)
    if (!result.ok) return reply.code(401).send({ reason: result.reason })
    // A rejection becomes 500, after which the event is sent again.
    await storeOnce(result.eventId, body)
    return reply.code(200).send({ received: true })
  })
  return app
}
