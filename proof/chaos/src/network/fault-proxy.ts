import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { createLane, type Lane } from './lane.ts'

/** Parts that a screen may use of the connection that it stands in. */
export type Passage = {
  toServer(bytes: Buffer): void
  toClient(bytes: Buffer): void
  /** Ends both sides as a reset does. */
  reset(): void
  /** Ends the client's side as a reset does; the server gets these bytes `ms` later, as its last. */
  leave(bytes: Buffer, ms: number): void
}

/** Reads what passes on one connection; what it does not pass on never arrives. */
export type Screen = { fromClient(bytes: Buffer): void; fromServer(bytes: Buffer): void }

/** Faults of a link; each lasts until `calm`. */
export type LinkFault =
  | { kind: 'hold'; towards: 'server' | 'client' | 'both' }
  | { kind: 'delay'; ms: number }
  | { kind: 'lose-replies' }

export type FaultProxy = {
  readonly port: number
  connections(): number
  /** The fault, besides those that it has, on present and future connections. */
  put(fault: LinkFault): void
  /** Without any fault: what was held arrives, what has lost bytes ends. */
  calm(): void
  /** Resets every connection; new ones are accepted. */
  cut(): void
  /** Resolves when the next bytes are held back, delayed or thrown away. */
  touched(): Promise<void>
  close(): Promise<void>
}

type Connection = {
  readonly client: Socket
  readonly server: Socket
  readonly lanes: { readonly server: Lane; readonly client: Lane }
  /** The client is gone, and its last bytes are still to come. */
  isLeft: boolean
}

/**
 * A TCP proxy on a free port of 127.0.0.1 with faults: held back in one direction or both, late, answers
 * that get lost, connections that are cut. `screenOf` looks into each connection; without it all passes.
 */
export async function startFaultProxy({
  target,
  screenOf,
}: {
  target: { host: string; port: number }
  screenOf?: (passage: Passage) => Screen
}): Promise<FaultProxy> {
  const open = new Set<Connection>()
  let faults: readonly LinkFault[] = []
  let touched = Promise.withResolvers<void>()
  const onTouched = () => {
    touched.resolve()
    touched = Promise.withResolvers()
  }

  const accept = (client: Socket) => {
    const server = connect(target)
    const lanes = { server: createLane(server, onTouched), client: createLane(client, onTouched) }
    const connection: Connection = { client, server, lanes, isLeft: false }
    open.add(connection)
    for (const fault of faults) apply(connection, fault)
    const passage: Passage = {
      toServer: lanes.server.push,
      toClient: lanes.client.push,
      reset: () => reset(connection),
      leave: (bytes, ms) => leave(connection, bytes, ms),
    }
    const screen = screenOf?.(passage) ?? { fromClient: passage.toServer, fromServer: passage.toClient }
    for (const socket of [client, server]) {
      const other = socket === client ? lanes.server : lanes.client
      socket.setNoDelay(true)
      socket.on('data', (bytes: Buffer) =>
        socket === client ? screen.fromClient(bytes) : screen.fromServer(bytes),
      )
      socket.on('end', () => other.push('end'))
      // The other side learns of a broken connection by the same way as of bytes.
      socket.on('error', () => other.push('reset'))
      socket.on('close', () => {
        if (socket === server || !connection.isLeft) other.push('end')
        if (client.destroyed && server.destroyed) open.delete(connection)
      })
    }
  }
  const listener = createServer(accept)
  const port = await listenLocally(listener)

  return {
    port,
    connections: () => open.size,
    put(fault) {
      faults = [...faults, fault]
      for (const connection of open) apply(connection, fault)
    },
    calm() {
      faults = []
      for (const connection of open) {
        const { lanes } = connection
        for (const lane of [lanes.server, lanes.client]) {
          lane.lose(false)
          lane.delay(0)
          lane.hold(false)
        }
        if (lanes.client.hasLost()) reset(connection)
      }
    },
    cut() {
      for (const connection of open) reset(connection)
    },
    touched: () => touched.promise,
    async close() {
      for (const connection of open) reset(connection)
      listener.close()
      await once(listener, 'close')
    },
  }
}

function apply({ lanes }: Connection, fault: LinkFault): void {
  if (fault.kind === 'hold') {
    if (fault.towards !== 'client') lanes.server.hold(true)
    if (fault.towards !== 'server') lanes.client.hold(true)
  } else if (fault.kind === 'delay') {
    lanes.server.delay(fault.ms)
    lanes.client.delay(fault.ms)
  } else lanes.client.lose(true)
}

function leave(connection: Connection, bytes: Buffer, ms: number): void {
  const { client, server } = connection
  connection.isLeft = true
  client.resetAndDestroy()
  // Its answer is the sign that the server has taken them.
  server.once('data', () => server.end())
  setTimeout(() => void (server.destroyed || server.write(bytes)), ms).unref()
}

function reset({ client, server }: Connection): void {
  for (const socket of [client, server]) if (!socket.destroyed) socket.resetAndDestroy()
}
