import express, { type Express } from 'express'
import { verify } from '../src/verify-webhook.ts'

export type ReceiverOptions = {
  /** The endpoint's secret, or the new and the old one while it is being rotated. */
  secrets: readonly string[]
  /** Stores the event durably unless its id is stored already, as a unique index does. */
  storeOnce: (eventId: string, rawBody: Buffer) => Promise<void>
}

/** A receiver with express: the raw body first, JSON afterwards. */
export function createExpressReceiver({ secrets, storeOnce }: ReceiverOptions): Express {
  const app = express()
  // `express.json()` would throw the bytes away that were signed. `inflate: false`: nothing is sent
  // compressed.
  const raw = express.raw({ type: () => true, limit: '1mb', inflate: false })
  app.post('/webhooks', raw, async (request, response) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
    const result = await verify(request.headers, body, secrets)
    if (!result.ok) {
      response.status(401).json({ reason: result.reason })
      return
    }
    // Express hands a rejection on as 500, after which the event is sent again.
    await storeOnce(result.eventId, body)
    response.status(200).json({ received: true })
  })
  return app
}
