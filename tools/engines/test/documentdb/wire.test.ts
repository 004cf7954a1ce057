import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, connect, type Socket } from 'node:net'
import { serialize } from 'bson'
import t from 'tap'
import { ByteBudget, serveSocket } from '../../src/documentdb/gateway/wire/serve-socket.ts'
import { ByteQueue } from '../../src/documentdb/gateway/wire/byte-queue.ts'
import {
  commandBytesMax,
  decodeMessage,
  encodeLegacyReply,
  encodeMsgReply,
  type Message,
  messageBytesMax,
  WireError,
} from '../../src/documentdb/gateway/wire/messages.ts'
import { bytesOf, opMsg, section, untilClosed } from './fixtures/messages.ts'

await t.test('bytes come out as they went in, whatever the pieces', async (t) => {
  const whole = Buffer.from(Array.from({ length: 251 }, (_, n) => n))
  for (const pieceLength of [1, 2, 7, 250, 251]) {
    const queue = new ByteQueue()
    for (let at = 0; at < whole.length; at += pieceLength) queue.push(whole.subarray(at, at + pieceLength))
    t.equal(queue.peek(252), null, 'more than there is')
    t.equal(queue.take(252), null)
    t.same(queue.peek(16), whole.subarray(0, 16))
    t.same(
      [queue.take(5), queue.take(240), queue.take(6)],
      [whole.subarray(0, 5), whole.subarray(5, 245), whole.subarray(245)],
    )
    t.equal(queue.length, 0)
  }
})

await t.test('a byte budget is granted in order and never overdrawn', async (t) => {
  const budget = new ByteBudget(100)
  const granted: string[] = []
  const ask = (name: string, bytes: number) => budget.reserve(bytes).then(() => granted.push(name))
  await ask('a', 60)
  const b = ask('b', 60)
  const c = ask('c', 10)
  await Promise.resolve()
  t.same(granted, ['a'], 'a small one does not overtake')
  budget.release(60)
  await Promise.all([b, c])
  t.same(granted, ['a', 'b', 'c'])
})

await t.test('a message with a body, a sequence and a checksum is read', async (t) => {
  const documents = [serialize({ _id: 1 }), serialize({ _id: 2, text: 'x'.repeat(100) })]
  const body = serialize({ insert: 'c', $db: 'd' })
  const sections = [section(0, body), section(1, bytesOf('documents', documents))]
  const message = decodeMessage(opMsg(sections, { flags: 1, requestId: 7, trailer: Buffer.alloc(4) }))
  t.equal(message.requestId, 7)
  t.equal(message.wantsReply, true)
  t.same(message.body, Buffer.from(body))
  t.same(message.sequences.get('documents'), Buffer.concat(documents))
  t.equal(message.longestDocumentBytes, documents[1]?.length)
})

await t.test('an unacknowledged write wants no reply; exhaust is allowed to be ignored', async (t) => {
  const body = section(0, Buffer.from(serialize({ insert: 'c' })))
  t.equal(decodeMessage(opMsg([body], { flags: 2 })).wantsReply, false)
  t.equal(decodeMessage(opMsg([body], { flags: 1 << 16 })).wantsReply, true)
})

await t.test('what breaks the protocol is refused', async (t) => {
  const body = section(0, Buffer.from(serialize({ ping: 1 })))
  const cut = Buffer.from(serialize({ _id: 1 })).subarray(0, 8)
  const long = Buffer.alloc(commandBytesMax + 1)
  long.writeInt32LE(long.length, 0)
  const cases: [string, Buffer][] = [
    ['no body', opMsg([section(1, bytesOf('documents', []))])],
    ['two bodies', opMsg([body, body])],
    ['unknown section kind', opMsg([section(2, Buffer.from(serialize({})))])],
    ['unknown required flag', opMsg([body], { flags: 4 })],
    ['unknown operation', opMsg([body], { opCode: 2012 })],
    ['a document of a sequence cut short', opMsg([body, section(1, bytesOf('documents', [cut]))])],
    ['a sequence twice', opMsg([body, section(1, bytesOf('a', [])), section(1, bytesOf('a', []))])],
    ['a body that is too long', opMsg([section(0, long)])],
    ['nothing at all', opMsg([])],
  ]
  for (const [name, bytes] of cases) assert.throws(() => decodeMessage(bytes), WireError, name)
  t.pass(`${cases.length} kinds`)
})

await t.test('replies carry their length and the number they answer', async (t) => {
  for (const document of [
    Buffer.from(serialize({ ok: 1 })),
    Buffer.from(serialize({ x: 'y'.repeat(100_000) })),
  ]) {
    const reply = Buffer.concat(encodeMsgReply(document, 5, 9))
    t.equal(reply.readInt32LE(0), reply.length)
    t.equal(reply.readInt32LE(8), 9)
    t.same(reply.subarray(21), document)
  }
  const legacy = Buffer.concat(encodeLegacyReply(Buffer.from(serialize({ ok: 1 })), 5, 9))
  t.equal(legacy.readInt32LE(0), legacy.length)
  t.equal(legacy.readInt32LE(12), 1)
})

await t.test('a connection', async (t) => {
  const received: Message[] = []
  const arrivals = new EventEmitter()
  const errors: string[] = []
  const server = createServer((socket) =>
    serveSocket({
      socket,
      budget: new ByteBudget(messageBytesMax),
      handle: async (message) => {
        received.push(message)
        arrivals.emit('message')
        return [Buffer.from([message.requestId])]
      },
      onError: (error) => errors.push(String(error)),
    }),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const open = async (): Promise<Socket> => {
    const address = server.address()
    const socket = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1')
    await once(socket, 'connect')
    t.teardown(() => socket.destroy())
    return socket
  }
  const ping = (requestId: number) => opMsg([section(0, Buffer.from(serialize({ ping: 1 })))], { requestId })

  await t.test('answers messages sent at once, in order', async (t) => {
    const socket = await open()
    socket.write(Buffer.concat([ping(1), ping(2), ping(3)]))
    const answers: number[] = []
    while (answers.length < 3) answers.push(...(await once(socket, 'data')).flatMap((chunk) => [...chunk]))
    t.same(answers, [1, 2, 3])
  })

  await t.test('reads a message that comes byte by byte', async (t) => {
    const socket = await open()
    for (const byte of ping(4)) socket.write(Buffer.from([byte]))
    const [answer] = await once(socket, 'data')
    t.same([...answer], [4])
  })

  await t.test('reads a message of many megabytes', async (t) => {
    const socket = await open()
    const document = Buffer.from(serialize({ text: 'x'.repeat(15_000_000) }))
    const large = [
      section(0, Buffer.from(serialize({ insert: 'c' }))),
      section(1, bytesOf('documents', [document, document])),
    ]
    socket.write(opMsg(large, { requestId: 5 }))
    const [answer] = await once(socket, 'data')
    t.same([...answer], [5])
    t.equal(received.at(-1)?.sequences.get('documents')?.length, 2 * document.length)
  })

  await t.test('is closed when a length is impossible', async (t) => {
    for (const length of [15, messageBytesMax + 1, -1]) {
      const socket = await open()
      const bytes = ping(6)
      bytes.writeInt32LE(length, 0)
      socket.write(bytes)
      await untilClosed(socket)
    }
    t.equal(errors.length, 3)
  })
})
