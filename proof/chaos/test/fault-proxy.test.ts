import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { connectBus } from '@pitboss/bus/connect-bus'
import { withEngines } from '@pitboss/testing/with-engines'
import { jetstreamManager } from '@nats-io/jetstream'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { pino } from 'pino'
import t from 'tap'
import { startFaultProxy } from '../src/network/fault-proxy.ts'

const engines = await withEngines(t, { fresh: true })
const logger = pino({ level: 'silent' })

async function echoWorld(t: { teardown(fn: () => Promise<void>): void }) {
  const heard: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      heard.push(bytes.toString())
      socket.write(bytes)
    })
  })
  const port = await listenLocally(server)
  const proxy = await startFaultProxy({ target: { host: '127.0.0.1', port } })
  const client = connect(proxy.port, '127.0.0.1')
  await once(client, 'connect')
  t.teardown(async () => {
    client.destroy()
    await proxy.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { heard, proxy, client }
}

await t.test('a cut of one direction holds its bytes back and lets the other pass', async (t) => {
  const { heard, proxy, client } = await echoWorld(t)
  client.write('one')
  t.equal(String((await once(client, 'data'))[0]), 'one')
  proxy.put({ kind: 'hold', towards: 'client' })
  const held = proxy.touched()
  client.write('two')
  await held
  t.strictSame(heard, ['one', 'two'], 'the server heard it, its answer is held')
  const answered = once(client, 'data')
  proxy.calm()
  t.equal(String((await answered)[0]), 'two')
  proxy.put({ kind: 'hold', towards: 'server' })
  const kept = proxy.touched()
  client.write('three')
  await kept
  t.strictSame(heard, ['one', 'two'], 'the server has not heard it')
  const late = once(client, 'data')
  proxy.calm()
  t.equal(String((await late)[0]), 'three')
})

await t.test('answers that are lost never come, and the connection ends', async (t) => {
  const { heard, proxy, client } = await echoWorld(t)
  const got: string[] = []
  client.on('data', (bytes: Buffer) => got.push(bytes.toString()))
  client.on('error', () => undefined)
  proxy.put({ kind: 'lose-replies' })
  const lost = proxy.touched()
  client.write('one')
  await lost
  const closed = new Promise((resolve) => client.once('close', resolve))
  proxy.calm()
  await closed
  t.strictSame(heard, ['one'])
  t.strictSame(got, [])
})

await t.test(
  'delayed bytes keep their order, also when the delay has ended before they arrive',
  async (t) => {
    const { proxy, client } = await echoWorld(t)
    let got = ''
    const whole = Promise.withResolvers<void>()
    client.on('data', (bytes: Buffer) => {
      got += bytes.toString()
      if (got.length === 'onetwo'.length) whole.resolve()
    })
    proxy.put({ kind: 'delay', ms: 50 })
    const delayed = proxy.touched()
    client.write('one')
    await delayed
    proxy.calm()
    client.write('two')
    await whole.promise
    t.equal(got, 'onetwo')
  },
)

await t.test('a publish whose acknowledgement is lost is in the stream once', async (t) => {
  const { host, hostname, port, username, password } = new URL(engines.natsUrl)
  const direct = await connectBus({ url: engines.natsUrl, service: 'test', logger })
  t.teardown(() => direct.close())
  const manager = await jetstreamManager(direct.nc)
  await manager.streams.add({ name: 'PROXIED', subjects: ['proxied.>'] })
  const proxy = await startFaultProxy({ target: { host: hostname, port: Number(port) } })
  t.teardown(() => proxy.close())
  const url = engines.natsUrl.replace(
    `${username}:${password}@${host}`,
    `${username}:${password}@127.0.0.1:${proxy.port}`,
  )
  const bus = await connectBus({ url, service: 'test', logger })
  t.teardown(() => bus.close())
  const event = { id: 'evt_1', subject: 'proxied.one', payload: new Uint8Array([1]) }
  proxy.put({ kind: 'lose-replies' })
  await t.rejects(bus.publishEvent(event), 'the publisher knows nothing')
  const back = Promise.withResolvers<void>()
  const watch = async () => {
    for await (const { type } of bus.nc.status()) if (type === 'reconnect') back.resolve()
  }
  watch().catch(back.reject)
  proxy.calm()
  await back.promise
  await bus.publishEvent(event)
  t.equal((await manager.streams.info('PROXIED')).state.messages, 1)
})

await t.test('a query whose answer is held waits, and is answered when the link is whole', async (t) => {
  const { hostname, port, searchParams } = new URL(engines.mongodbUrl)
  const proxy = await startFaultProxy({ target: { host: hostname, port: Number(port) } })
  t.teardown(() => proxy.close())
  const storage = await connectStorage({
    url: `mongodb://127.0.0.1:${proxy.port}/?directConnection=true&${searchParams.toString()}`,
    database: `${engines.databasePrefix}_held`,
    logger,
  })
  t.teardown(() => storage.close())
  const rows = storage.db.collection<{ _id: string }>('rows')
  await rows.insertOne({ _id: 'one' })
  proxy.put({ kind: 'hold', towards: 'client' })
  const held = proxy.touched()
  const found = rows.findOne({ _id: 'one' })
  await held
  proxy.calm()
  t.strictSame(await found, { _id: 'one' })
})
