import { connect, type Socket } from 'node:net'
import { z } from 'zod'
import { given, servePart } from '../harness/serve-part.ts'

/*
 * Sockets that announce a body and send none; one that is closed comes back a second later. A process of its
 * own, since thousands of connections a second would make the thread late that measures the healthy tenant.
 */

const order = z.strictObject({ count: z.int() })
const port = Number(given('PORT'))
const localAddress = given('ADDRESS')
const againMs = 1000

const open = new Set<Socket>()
let wanted = 0

servePart({}, async (message) => {
  wanted = order.parse(message).count
  if (wanted === 0) for (const socket of open) socket.destroy()
  else for (let index = 0; index < wanted; index++) begin(index)
  return {}
})

function begin(index: number): void {
  if (index >= wanted) return
  const path = index % 2 === 0 ? '/v1/public/verify' : `/v1/public/wallet-callbacks/op_${'0'.repeat(32)}/TEST`
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  open.add(socket)
  socket.on('error', () => undefined)
  socket.on('connect', () => {
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n`,
    )
  })
  socket.on('close', () => {
    open.delete(socket)
    if (wanted > 0) setTimeout(() => begin(index), againMs).unref()
  })
  socket.resume()
}
