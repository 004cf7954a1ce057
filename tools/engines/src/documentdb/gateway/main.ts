import { startGateway } from './gateway.ts'

/**
 * The gateway's process. Environment: PITBOSS_PG_SOCKET_DIR, PITBOSS_DOCUMENTDB_PORT (0 = any),
 * PITBOSS_PG_USER, PITBOSS_DOCUMENTDB_LOGIN (`user:password` of every client). Prints
 * `{"ready":true,"port":N}` on standard output when it accepts, its log on standard error, and ends with its
 * parent, whose end closes the standard input.
 */

const badConfiguration = 78
const drainMs = 2_000
const startMsMax = 60_000

const socketDir = required('PITBOSS_PG_SOCKET_DIR')
const port = Number(required('PITBOSS_DOCUMENTDB_PORT'))
if (!Number.isInteger(port) || port < 0 || port > 65_535) fail('PITBOSS_DOCUMENTDB_PORT', 'is not a port')

let stopping = false
let stop = async (): Promise<void> => process.exit(0)

process.once('SIGTERM', shutDown)
process.once('SIGINT', shutDown)
process.stdin.once('end', shutDown)
process.stdin.once('close', shutDown)
process.stdin.once('error', shutDown)
process.stdin.resume()

const tooLate = setTimeout(() => {
  log({
    event: 'start.failed',
    error: `PostgreSQL did not answer within ${startMsMax / 1000} s in ${socketDir}`,
  })
  process.exit(1)
}, startMsMax)

try {
  const [loginUser, password] = (process.env.PITBOSS_DOCUMENTDB_LOGIN ?? '').split(':')
  const gateway = await startGateway({
    socketDir,
    user: process.env.PITBOSS_PG_USER ?? 'docdb',
    port,
    log,
    login: loginUser && password ? { user: loginUser, password } : undefined,
  })
  clearTimeout(tooLate)
  stop = () => gateway.stop(drainMs)
  process.stdout.write(`${JSON.stringify({ ready: true, port: gateway.port })}\n`)
} catch (error) {
  log({ event: 'start.failed', error: String(error) })
  process.exit(1)
}

function shutDown(): void {
  if (stopping) return
  stopping = true
  void stop().finally(() => process.exit(0))
}

function log(line: Record<string, unknown>): void {
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`)
}

function required(name: string): string {
  return process.env[name] || fail(name, 'is not set')
}

function fail(name: string, problem: string): never {
  process.stderr.write(`${name} ${problem}\n`)
  process.exit(badConfiguration)
}
