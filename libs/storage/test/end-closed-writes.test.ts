import { once } from 'node:events'
import { createRequire } from 'node:module'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { endClosedWrites } from '../src/end-closed-writes.ts'

type Connection = { command(ns: object, command: object, options: object): Promise<unknown> }

await t.test('a command to a socket that closes at the same moment fails', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo

  t.equal(await commandAsItCloses(port), 'hangs', 'so the driver still needs the mending')
  endClosedWrites()
  endClosedWrites()
  t.match(await commandAsItCloses(port), { name: 'MongoNetworkError' })
})

/** The error of the command, or `hangs` when it has none after its socket's `close`. */
async function commandAsItCloses(port: number): Promise<unknown> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const connection = connectionOver(socket)
  const closed = once(socket, 'close')
  socket.destroy()
  const failed = connection.command({ db: 'admin', collection: '$cmd' }, { hello: 1 }, {}).then(
    () => 'answered',
    (error: unknown) => error,
  )
  return Promise.race([failed, closed.then(() => turn()).then(() => 'hangs')])
}

function connectionOver(socket: Socket): Connection {
  const driver: { Connection: new (socket: Socket, options: object) => Connection } = createRequire(
    import.meta.url,
  )('mongodb/lib/cmap/connection.js')
  return new driver.Connection(socket, { id: 1, generation: 0, monitorCommands: false, hostAddress: 'here' })
}
