/** What the gateway tells about itself. Counters only grow; times are milliseconds since 1970. */
export type ServerInfo = {
  port: number
  startedAtMs: number
  connectionsCurrent: number
  connectionsCreated: number
  commands: Map<string, { total: number; failed: number }>
  bytesIn: number
  bytesOut: number
}

/** The version whose behaviour drivers may expect; it goes with `wireVersionMax`. */
export const serverVersion = '8.0.0'
export const wireVersionMax = 25
export const replicaSetName = 'rs0'
export const connectionsMax = 1_000
