import { createServer } from 'node:http'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { z } from 'zod'
import { servePart } from '../harness/serve-part.ts'

/*
 * A wallet that answers at once and keeps nothing. It shows what the product costs, and is no example of a
 * wallet.
 */

const movement = z.object({ currency: z.string(), transactionId: z.string().optional() })

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { currency, transactionId = '' } = movement.parse(JSON.parse(Buffer.concat(chunks).toString()))
    const answer = { status: 'OK', balance: '1000.00', currency, transactionId: `w-${transactionId}` }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answer))
  })
})
server.keepAliveTimeout = 65_000
const port = await listenLocally(server)
servePart({ url: `http://127.0.0.1:${port}` }, async () => ({}))
