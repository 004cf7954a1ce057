/** Facts that the gateway tells about itself. Counters only grow; times are milliseconds since 1970. */
export type ServerInfo = {
  port: number
  startedAtMs: number
  connectionsCurrent: number
  connectionsCreated: number
  commands: Map<string, { total: number; failed: number }>
  bytesIn: number
  bytesOut: number
}

/** The version whose behaviour drivers may expect. Not 8.0 (25), which would promise `client.bulkWrite`. */
export const serverVersion = '7.0.0'
export const wireVersionMax = 21
export const replicaSetName = 'rs0'
export const connectionsMax = 1_000
