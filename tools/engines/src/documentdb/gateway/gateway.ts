import { createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import {
  type Client,
  deleteInEngine,
  connectionsMax,
  type Engine,
  type ServerInfo,
} from './commands/command.ts'
import { runCommand } from './commands/run-command.ts'
import { DuplicateKeys } from './errors/duplicate-keys.ts'
import { PostgresConnection } from './postgres/postgres-connection.ts'
import { PostgresPool } from './postgres/postgres-pool.ts'
import { forgetSessions, prepareDatabase } from './postgres/prepare-database.ts'
import { Availability, watchPostgres } from './state/availability.ts'
import { CollectionGate } from './state/collection-gate.ts'
import { CursorRegistry } from './state/cursor-registry.ts'
import { createLogins } from './state/login.ts'
import { Transactions, transactionSettings } from './state/transactions.ts'
import { ByteBudget, serveSocket } from './wire/serve-socket.ts'
import { encodeLegacyReply, encodeMsgReply, type Message } from './wire/messages.ts'

export type GatewayOptions = {
  /** The folder of PostgreSQL's Unix socket. */
  socketDir: string
  user: string
  /** TCP port on 127.0.0.1; 0 takes a free one. */
  port: number
  log: (line: Record<string, unknown>) => void
  /** The login of every client; none has to where it is absent. */
  login?: { user: string; password: string } | undefined
}

export type Gateway = {
  port: number
  /** Stops accepting, lets running commands finish for `drainMs`, then closes everything. */
  stop: (drainMs: number) => Promise<void>
}

const applicationName = 'pitboss-gateway'
/**
 * Together below PostgreSQL's max_connections (120), with room for the engine's own workers and for people.
 */
const readConnections = 16
const writeConnections = 16
const transactionConnections = 64
const waitMsMax = 30_000
const largeMessagesBytesMax = 512 * 1024 * 1024
const sweepMs = 5_000
const forgetSessionsMs = 60_000

/**
 * Serves MongoDB's wire protocol from a PostgreSQL with the DocumentDB extension. Resolves when PostgreSQL
 * answers and the port is open. When PostgreSQL goes away the connections of running commands are dropped
 * rather than answered, so that drivers try again; what arrives meanwhile waits for it.
 */
export async function startGateway({ socketDir, user, port, log, login }: GatewayOptions): Promise<Gateway> {
  const open = (settings: Record<string, string> = {}) =>
    PostgresConnection.open({
      socketPath: `${socketDir}/.s.PGSQL.5432`,
      user,
      database: 'postgres',
      applicationName,
      settings,
    })
  const pool = (size: number, settings: Record<string, string> = {}) =>
    new PostgresPool({ open: () => open(settings), size, waitMsMax })
  const transactionPool = pool(transactionConnections, transactionSettings)
  const reads = pool(readConnections)
  const info: ServerInfo = {
    port: 0,
    startedAtMs: Date.now(),
    connectionsCurrent: 0,
    connectionsCreated: 0,
    commands: new Map(),
    bytesIn: 0,
    bytesOut: 0,
  }
  const engine: Engine = {
    availability: new Availability(),
    reads,
    writes: pool(writeConnections),
    transactions: new Transactions(transactionPool),
    cursors: new CursorRegistry(),
    gate: new CollectionGate(),
    duplicateKeys: new DuplicateKeys(reads),
    running: new Map(),
    info,
  }
  const pools = [reads, engine.writes, transactionPool]
  const newLogin = login === undefined ? null : createLogins(login)
  const sockets = new Set<Socket>()
  const budget = new ByteBudget(largeMessagesBytesMax)
  let inFlight = 0
  let requestId = 0
  let idle: (() => void) | null = null

  const server = createServer((socket) => {
    sockets.add(socket)
    info.connectionsCurrent = sockets.size
    const client = {
      id: ++info.connectionsCreated,
      address: `${socket.remoteAddress}:${socket.remotePort}`,
      login: newLogin?.() ?? null,
    }
    socket.on('close', () => {
      sockets.delete(socket)
      info.connectionsCurrent = sockets.size
    })
    const handle = (message: Message) => answer(message, client)
    serveSocket({
      socket,
      budget,
      handle,
      onError: (error) => log({ event: 'connection.failed', error: String(error) }),
    })
  })
  server.maxConnections = connectionsMax

  async function answer(message: Message, client: Client): Promise<Buffer[]> {
    inFlight++
    info.bytesIn += message.bytes
    try {
      const reply = await runCommand({ message, client, engine, log })
      if (!message.wantsReply) return []
      info.bytesOut += reply.length
      requestId = (requestId + 1) | 0
      const encode = message.legacy ? encodeLegacyReply : encodeMsgReply
      return encode(reply, requestId, message.requestId)
    } finally {
      inFlight--
      if (inFlight === 0) idle?.()
    }
  }

  /**
   * Commands at work end their connections, because their outcome is unknown; others wait, and keep theirs.
   */
  function lose(): void {
    for (const each of pools) each.reset()
    engine.transactions.reset()
    engine.cursors.clear()
  }

  const firstUp = Promise.withResolvers<void>()
  const stopWatching = watchPostgres({
    open,
    prepare: (connection) => prepareDatabase(connection, applicationName),
    onUp: () => {
      engine.availability.up()
      log({ event: 'postgres.up' })
      firstUp.resolve()
    },
    onDown: () => {
      engine.availability.down()
      lose()
      log({ event: 'postgres.down' })
    },
    onFailure: logChanges((error) => log({ event: 'postgres.unreachable', error })),
  })
  await firstUp.promise

  const sweeps = [
    every(sweepMs, log, async () => {
      await engine.transactions.abortExpired(Date.now())
      await deleteInEngine(engine, engine.cursors.removeIdle(Date.now()))
    }),
    every(forgetSessionsMs, log, async () => {
      if (engine.availability.isUp) await engine.writes.use((connection) => connection.query(forgetSessions))
    }),
  ]

  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  info.port = portOf(server.address())

  return {
    port: info.port,
    stop: async (drainMs) => {
      server.close()
      engine.availability.end()
      for (const timer of sweeps) clearInterval(timer)
      if (inFlight > 0) {
        const drained = new Promise<void>((resolve) => {
          idle = resolve
        })
        await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, drainMs))])
      }
      stopWatching()
      lose()
      for (const socket of sockets) socket.resetAndDestroy()
    },
  }
}

function every(periodMs: number, log: GatewayOptions['log'], work: () => Promise<void>): NodeJS.Timeout {
  return setInterval(() => {
    work().catch((error: unknown) => log({ event: 'sweep.failed', error: String(error) }))
  }, periodMs)
}

/** Reports an error once, not at every attempt that meets it again. */
function logChanges(report: (error: string) => void): (error: unknown) => void {
  let last = ''
  return (error) => {
    if (String(error) !== last) report(String(error))
    last = String(error)
  }
}

function portOf(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('not listening')
  return address.port
}
