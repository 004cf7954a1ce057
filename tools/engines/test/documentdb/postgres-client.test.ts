import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { ConnectionLost, PostgresError } from '../../src/documentdb/gateway/errors/mongo-error.ts'
import { encodeParse, encodeRequest } from '../../src/documentdb/gateway/postgres/encode-request.ts'
import { PostgresConnection } from '../../src/documentdb/gateway/postgres/postgres-connection.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'

const frame = (kind: string, body: Buffer) => {
  const head = Buffer.alloc(5)
  head.write(kind)
  head.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}
const int16 = (value: number) => Buffer.from([value >> 8, value & 0xff])
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const column = (value: Buffer | null) =>
  value === null ? int32(-1) : Buffer.concat([int32(value.length), value])
const row = (...values: (Buffer | null)[]) =>
  frame('D', Buffer.concat([int16(values.length), ...values.map(column)]))
const done = frame('C', Buffer.from('SELECT 1\0'))
const ready = frame('Z', Buffer.from('I'))
const answer = (value: Buffer | null) => Buffer.concat([frame('2', Buffer.alloc(0)), row(value), done, ready])

/** A connection to a PostgreSQL that lets everybody in and otherwise says only what the test has it say. */
async function connectTo(
  t: Parameters<typeof temporaryFolder>[0],
): Promise<{ connection: PostgresConnection; server: Socket }> {
  const socketPath = join(temporaryFolder(t), 'socket')
  const listener = createServer().listen(socketPath)
  t.teardown(() => listener.close())
  await once(listener, 'listening')
  const accepted = once(listener, 'connection')
  const opening = PostgresConnection.open({ socketPath, user: 'u', database: 'd', applicationName: 'test' })
  const [server]: Socket[] = await accepted
  if (server === undefined) throw new Error('nobody came')
  t.teardown(() => server.destroy())
  server.setNoDelay(true)
  server.write(Buffer.concat([frame('R', int32(0)), ready]))
  server.resume()
  return { connection: await opening, server }
}

await t.test('a request is one buffer', async (t) => {
  const name = Buffer.from('s7\0')
  const parse = encodeParse(name, 'select $1')
  t.same(parse, frame('P', Buffer.from('s7\0select $1\0\0\0')))
  const [only, ...others] = encodeRequest([{ name, parse, parameters: ['é', 5n, null, Buffer.from('x')] }])
  t.same(others, [])
  const parameters = ['é', '\0\0\0\0\0\0\0\x05', null, 'x'].map((value) =>
    column(value === null ? null : Buffer.from(value)),
  )
  const bind = [Buffer.from('\0s7\0'), int16(1), int16(1), int16(4), ...parameters, int16(1), int16(1)]
  const execute = frame('E', Buffer.alloc(5))
  t.same(only, Buffer.concat([parse, frame('B', Buffer.concat(bind)), execute, frame('S', Buffer.alloc(0))]))
})

await t.test('long parameters are not copied, and nothing is lost between them', async (t) => {
  const name = Buffer.from('s0\0')
  const long = Buffer.alloc(100_000, 'l')
  const short = Buffer.from('short')
  const statement = { name, parse: null, parameters: [long, short, long] }
  const buffers = encodeRequest([statement, statement])
  t.equal(buffers.filter((buffer) => buffer === long).length, 4)
  const [whole] = encodeRequest([{ ...statement, parameters: [short, short, short] }])
  const bytes = Buffer.concat(buffers)
  const sync = 5
  const each = (whole?.length ?? 0) - sync + 2 * (long.length - short.length)
  t.equal(bytes.length, 2 * each + sync)
  t.equal(bytes.readInt32BE(1) + 1, each - 10, 'Bind tells its length')
})

await t.test('answers are read however they are cut', async (t) => {
  const { connection, server } = await connectTo(t)
  const values = [Buffer.from('one'), null, Buffer.alloc(200_000, 'long'), Buffer.alloc(0)]
  const bytes = Buffer.concat(values.map(answer))
  for (const pieceBytes of [bytes.length, 70_000, 4096, 1021]) {
    const answers = Promise.all(values.map(() => connection.query('select')))
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      server.write(bytes.subarray(at, at + pieceBytes))
      await new Promise((resolve) => setImmediate(resolve))
    }
    t.same(
      await answers,
      values.map((value) => [[value]]),
      `${pieceBytes} bytes at once`,
    )
  }
  const slowly = connection.query('select')
  for (const byte of answer(Buffer.from('slow'))) {
    server.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.same(await slowly, [[Buffer.from('slow')]])
})

await t.test('an earlier answer stays as it was when later ones arrive', async (t) => {
  const { connection, server } = await connectTo(t)
  const ask = async (value: string) => {
    const asked = connection.query('select')
    server.write(answer(Buffer.from(value)))
    return asked
  }
  const first = await ask('first')
  await ask('SECOND')
  t.same(first, [[Buffer.from('first')]])
})

await t.test('an error fails its own request alone', async (t) => {
  const { connection, server } = await connectTo(t)
  const outcomes = Promise.allSettled([connection.query('a'), connection.query('b')])
  server.write(Buffer.concat([frame('E', Buffer.from('C42P01\0Mno\0\0')), ready, answer(Buffer.from('b'))]))
  const [failed, answered] = await outcomes
  t.ok(failed.status === 'rejected' && failed.reason instanceof PostgresError)
  t.same(answered, { status: 'fulfilled', value: [[Buffer.from('b')]] })
})

await t.test('a length that cannot be ends the connection', async (t) => {
  for (const length of [3, -1, 0x7fffffff]) {
    const { connection, server } = await connectTo(t)
    const outcome = connection.query('select').catch((error: unknown) => error)
    server.write(Buffer.concat([Buffer.from('D'), int32(length), answer(null)]))
    t.ok((await outcome) instanceof ConnectionLost, String(length))
    t.equal(connection.isLost, true)
  }
})
