import { hostname, cpus, release, totalmem, type as osType, arch } from 'node:os'
import { replicaSetName, serverVersion, connectionsMax } from '../state/server-info.ts'
import { documentBytesMax } from '../wire/limits.ts'
import { bare, firstValue, type Handler, ok, query } from './command.ts'

const versionArray = [...serverVersion.split('.').map(Number), 0]
const mebibyte = 1024 * 1024

export const ping: Handler = async (command, engine) => {
  await engine.reads.use((connection) => connection.query('select 1'))
  return ok
}

export const buildInfo: Handler = async (_command, engine) => {
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
}

export const serverStatus: Handler = (_command, { info, transactions, cursors, reads, writes }) => {
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
}

export const hostInfo: Handler = () => ({
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
})

export const connectionStatus: Handler = () => ({
  authInfo: { authenticatedUsers: [], authenticatedUserRoles: [], authenticatedUserPrivileges: [] },
  ok: 1,
})

export const whatsmyuri: Handler = ({ client }) => ({ you: client.address, ok: 1 })

/** The gateway logs to its standard error; there is nothing kept in memory to show. */
export const getLog: Handler = ({ view }) =>
  view.string('getLog') === '*'
    ? { names: ['global', 'startupWarnings'], ok: 1 }
    : { totalLinesWritten: 0, log: [], ok: 1 }

export const getCmdLineOpts: Handler = (_command, { info }) => ({
  argv: ['pitboss-documentdb-gateway'],
  parsed: { net: { bindIp: '127.0.0.1', port: info.port }, replication: { replSet: replicaSetName } },
  ok: 1,
})

const parameters: Record<string, unknown> = {
  featureCompatibilityVersion: { version: serverVersion.slice(0, 3) },
  transactionLifetimeLimitSeconds: 60,
  authenticationMechanisms: [],
}

export const getParameter: Handler = ({ view }) => {
  if (view.string('getParameter') === '*') return { ...parameters, ok: 1 }
  const asked = view.names().filter((name) => Object.hasOwn(parameters, name))
  return { ...Object.fromEntries(asked.map((name) => [name, parameters[name]])), ok: 1 }
}

export const currentOp: Handler = async (command, engine) => {
  const text = 'select document from documentdb_api.current_op_command($1)'
  return firstValue(await query(command, engine, text, [bare(command)], 'reads'))
}

export const killOp: Handler = async (command, engine) =>
  firstValue(await query(command, engine, 'select documentdb_api.kill_op($1)', [bare(command)], 'reads'))

export const replSetGetStatus: Handler = (_command, { info }) => ({
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
})

export const getDefaultRWConcern: Handler = () => ({
  defaultReadConcern: { level: 'local' },
  defaultWriteConcern: { w: 'majority', wtimeout: 0 },
  ok: 1,
})
