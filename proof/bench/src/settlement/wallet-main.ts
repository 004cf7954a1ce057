import { createServer, type ServerResponse } from 'node:http'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { z } from 'zod'
import { servePart } from '../harness/serve-part.ts'
import { moodOrder, type WalletMood } from './wallet-mood.ts'

/*
 * A wallet that keeps nothing and behaves as it is told, for each operator by the first part of the path. No
 * example of a wallet.
 */

const movement = z.object({ currency: z.string(), transactionId: z.string() })
const atOnce: WalletMood = { kind: 'ok', afterMs: 0 }
const moods = new Map<string, WalletMood>()

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const mood = moods.get(request.url?.split('/')[1] ?? '') ?? atOnce
    if (mood.kind === 'hang') return
    if (mood.kind === 'down') return answer(response, 503, { status: 'TEMPORARY_ERROR' })
    const { currency, transactionId } = movement.parse(JSON.parse(Buffer.concat(chunks).toString()))
    const done = { status: 'OK', balance: '1000.00', currency, transactionId: `w-${transactionId}` }
    if (mood.afterMs === 0) answer(response, 200, done)
    else setTimeout(() => answer(response, 200, done), mood.afterMs)
  })
})
server.keepAliveTimeout = 65_000
const port = await listenLocally(server)
servePart({ url: `http://127.0.0.1:${port}` }, async (message) => {
  const { name, mood } = moodOrder.parse(message)
  moods.set(name, mood)
  return {}
})

function answer(response: ServerResponse, status: number, body: object): void {
  response.statusCode = status
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(body))
}
