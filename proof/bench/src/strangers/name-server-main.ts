import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { servePart } from '../harness/serve-part.ts'

/*
 * A name server on loopback: names below `healthy.example` are 127.0.0.1 for a second, of others it says
 * nothing at all.
 */

const headerBytes = 12
const typeA = 1

const socket = createSocket('udp4')
socket.on('message', (query, from) => {
  const { name, end } = readName(query)
  if (!name.endsWith('.healthy.example')) return
  const isA = query.readUInt16BE(end) === typeA
  const header = Buffer.from(query.subarray(0, headerBytes))
  header.writeUInt16BE(0x8180, 2)
  header.writeUInt16BE(isA ? 1 : 0, 6)
  header.writeUInt32BE(0, 8)
  const question = query.subarray(headerBytes, end + 4)
  // The name of the question; type A, class IN, one second, four bytes.
  const answer = Buffer.from([0xc0, headerBytes, 0, typeA, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1])
  socket.send(Buffer.concat([header, question, ...(isA ? [answer] : [])]), from.port, from.address)
})
socket.bind(0, '127.0.0.1')
await once(socket, 'listening')
servePart({ url: `127.0.0.1:${socket.address().port}` }, async () => ({}))

/** The name of the first question, and where it ends. */
function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = headerBytes
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}
