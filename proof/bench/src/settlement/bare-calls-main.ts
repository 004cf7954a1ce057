import { Pool } from 'undici'
import { z } from 'zod'
import { callFloorWallet } from '../harness/floor-wallet.ts'
import { servePart } from '../harness/serve-part.ts'
import { makeMovement, newRound } from './make-movement.ts'

/*
 * The wallet calls of a recovery and nothing else: signed credits, as many at once as there are connections.
 */

const order = z.object({ url: z.string(), count: z.number(), connections: z.number() })

servePart({ ready: true }, async (message) => {
  const { url, count, connections } = order.parse(message)
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections })
  const bodies = Array.from({ length: count }, () => JSON.stringify(makeMovement('WIN', newRound('bare'))))
  const call = async () => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      await callFloorWallet(pool, `${pathname}/credit`, body)
    }
  }
  const fromMs = performance.now()
  await Promise.all(Array.from({ length: connections }, call))
  const tookMs = performance.now() - fromMs
  await pool.close()
  return { tookMs }
})
