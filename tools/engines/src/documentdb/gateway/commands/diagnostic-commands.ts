import { arch, cpus, hostname, release, totalmem, type as osType } from 'node:os'
import { ObjectId } from 'bson'
import {
  type Answer,
  type Command,
  type Engine,
  bare,
  connectionsMax,
  firstValue,
  type Handler,
  ok,
  query,
  replicaSetName,
  serverVersion,
  wireVersionMax,
} from './command.ts'
import { documentBytesMax, messageBytesMax, writeBatchMax } from '../wire/messages.ts'

const electionId = new ObjectId('7fffffff0000000000000001')

/** Commands about the gateway and its engine, by name. */
export const diagnosticCommands: Record<string, Handler> = {
  hello,
  isMaster: hello,
  ismaster: hello,

  ping: async (command, engine) => {
    await engine.reads.use((connection) => connection.query('select 1'))
    return ok
  },

  buildInfo: async (_command, engine) => {
    const [row] = await engine.reads.use((connection) =>
      connection.query("select documentdb_api.binary_version(), current_setting('server_version')"),
    )
    return {
      version: serverVersion,
      versionArray,
      gitVersion: `documentdb ${row?.[0]?.toString() ?? ''}`,
      modules: [],
      allocator: 'system',
      javascriptEngine: 'none',
      bits: 64,
      debug: false,
      maxBsonObjectSize: documentBytesMax,
      storageEngines: ['documentdb'],
      documentdb: { extension: row?.[0]?.toString() ?? '', postgresql: row?.[1]?.toString() ?? '' },
      ok: 1,
    }
  },

  serverStatus: (_command, { info, transactions, cursors, reads, writes }) => {
    const uptimeMs = Date.now() - info.startedAtMs
    const memory = process.memoryUsage()
    const count = (...names: string[]) =>
      names.reduce((sum, name) => sum + (info.commands.get(name)?.total ?? 0), 0)
    return {
      host: `${hostname()}:${info.port}`,
      version: serverVersion,
      process: 'pitboss documentdb gateway',
      pid: process.pid,
      uptime: uptimeMs / 1000,
      uptimeMillis: uptimeMs,
      localTime: new Date(),
      connections: {
        current: info.connectionsCurrent,
        available: connectionsMax - info.connectionsCurrent,
        totalCreated: info.connectionsCreated,
      },
      opcounters: {
        insert: count('insert'),
        query: count('find', 'aggregate', 'count', 'distinct'),
        update: count('update', 'findAndModify'),
        delete: count('delete'),
        getmore: count('getMore'),
        command: [...info.commands.values()].reduce((sum, { total }) => sum + total, 0),
      },
      metrics: { commands: Object.fromEntries(info.commands), cursor: { open: { total: cursors.size } } },
      network: { bytesIn: info.bytesIn, bytesOut: info.bytesOut },
      transactions: {
        currentOpen: transactions.size,
        totalCommitted: transactions.committed,
        totalAborted: transactions.aborted,
      },
      postgres: { lentForReads: reads.lent, lentForWrites: writes.lent },
      mem: { bits: 64, resident: Math.round(memory.rss / mebibyte), virtual: 0, supported: true },
      storageEngine: { name: 'documentdb', supportsCommittedReads: true, persistent: true },
      repl: { setName: replicaSetName, isWritablePrimary: true, hosts: [`127.0.0.1:${info.port}`] },
      ok: 1,
    }
  },

  hostInfo: () => ({
    system: {
      currentTime: new Date(),
      hostname: hostname(),
      cpuAddrSize: 64,
      memSizeMB: Math.round(totalmem() / mebibyte),
      numCores: cpus().length,
      cpuArch: arch(),
    },
    os: { type: osType(), name: osType(), version: release() },
    extra: {},
    ok: 1,
  }),

  connectionStatus: () => ({
    authInfo: { authenticatedUsers: [], authenticatedUserRoles: [], authenticatedUserPrivileges: [] },
    ok: 1,
  }),

  whatsmyuri: ({ client }) => ({ you: client.address, ok: 1 }),

  /** The gateway logs to its standard error; there is nothing kept in memory to show. */
  getLog: ({ view }) =>
    view.string('getLog') === '*'
      ? { names: ['global', 'startupWarnings'], ok: 1 }
      : { totalLinesWritten: 0, log: [], ok: 1 },

  getCmdLineOpts: (_command, { info }) => ({
    argv: ['pitboss-documentdb-gateway'],
    parsed: { net: { bindIp: '127.0.0.1', port: info.port }, replication: { replSet: replicaSetName } },
    ok: 1,
  }),

  getParameter: ({ view }) => {
    if (view.string('getParameter') === '*') return { ...parameters, ok: 1 }
    const asked = view.names().filter((name) => Object.hasOwn(parameters, name))
    return { ...Object.fromEntries(asked.map((name) => [name, parameters[name]])), ok: 1 }
  },

  currentOp: async (command, engine) => {
    const text = 'select document from documentdb_api.current_op_command($1)'
    return firstValue(await query(command, engine, text, [bare(command)], 'reads'))
  },

  killOp: async (command, engine) =>
    firstValue(await query(command, engine, 'select documentdb_api.kill_op($1)', [bare(command)], 'reads')),

  replSetGetStatus: (_command, { info }) => ({
    set: replicaSetName,
    date: new Date(),
    myState: 1,
    members: [
      {
        _id: 0,
        name: `127.0.0.1:${info.port}`,
        health: 1,
        state: 1,
        stateStr: 'PRIMARY',
        uptime: Math.round((Date.now() - info.startedAtMs) / 1000),
        self: true,
      },
    ],
    ok: 1,
  }),

  getDefaultRWConcern: () => ({
    defaultReadConcern: { level: 'local' },
    defaultWriteConcern: { w: 'majority', wtimeout: 0 },
    ok: 1,
  }),
}

const versionArray = [...serverVersion.split('.').map(Number), 0]
const mebibyte = 1024 * 1024

const parameters: Record<string, unknown> = {
  featureCompatibilityVersion: { version: serverVersion.slice(0, 3) },
  transactionLifetimeLimitSeconds: 60,
  authenticationMechanisms: [],
}

/**
 * Introduces the gateway as the primary of a replica set of one, which is what gives drivers sessions,
 * transactions and retryable writes. No `topologyVersion`: drivers then ask again rather than leave a hello
 * waiting.
 */
function hello(command: Command, { info }: Engine): Answer {
  const me = `127.0.0.1:${info.port}`
  return {
    helloOk: true,
    [command.name === 'hello' ? 'isWritablePrimary' : 'ismaster']: true,
    secondary: false,
    setName: replicaSetName,
    setVersion: 1,
    electionId,
    hosts: [me],
    primary: me,
    me,
    maxBsonObjectSize: documentBytesMax,
    maxMessageSizeBytes: messageBytesMax,
    maxWriteBatchSize: writeBatchMax,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    connectionId: command.client.id,
    ...(command.view.has('saslSupportedMechs') ? { saslSupportedMechs: ['SCRAM-SHA-256'] } : {}),
    minWireVersion: 0,
    maxWireVersion: wireVersionMax,
    readOnly: false,
    ok: 1,
  }
}
