import { signatureTimestamp, signBody } from '@pitboss/signing/sign-body'
import { Pool } from 'undici'
import { z } from 'zod'
import { servePart } from '../harness/serve-part.ts'
import { makeMovement, newRound } from './make-movement.ts'

/* The wallet calls of a recovery and nothing else: signed credits, as many at once as there are connections. */

const order = z.object({ url: z.string(), count: z.number(), connections: z.number() })
const secret = 'the floor has a secret too'

servePart({ ready: true }, async (message) => {
  const { url, count, connections } = order.parse(message)
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections })
  const bodies = Array.from({ length: count }, () => JSON.stringify(makeMovement('WIN', newRound('bare'))))
  const call = async () => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const timestamp = signatureTimestamp(new Date())
      const headers = {
        'content-type': 'application/json',
        'x-timestamp': timestamp,
        'x-signature': signBody(secret, timestamp, body),
      }
      const answer = await pool.request({ method: 'POST', path: `${pathname}/credit`, headers, body })
      await answer.body.text()
      if (answer.statusCode !== 200) throw new Error(`the wallet answered ${answer.statusCode}`)
    }
  }
  const fromMs = performance.now()
  await Promise.all(Array.from({ length: connections }, call))
  const tookMs = performance.now() - fromMs
  await pool.close()
  return { tookMs }
})
