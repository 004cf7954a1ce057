import { once } from 'node:events'
import { connect } from 'node:net'
import { z } from 'zod'
import { EngineError, reasonOf } from '../engine-error.ts'
import { runProgram } from '../fetch/run-program.ts'

const natsVersionMin = '2.10.0'

/** The version in `nats-server: v2.15.1` or `2.15.1`; null when there is none. */
export function parseNatsVersion(text: string): string | null {
  return /v?(\d+\.\d+\.\d+\S*)/.exec(text)?.[1] ?? null
}

/** Whether a server of this version can keep what it acknowledges: `sync_interval` came with 2.10. */
export function isNatsVersionEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  const [majorMin = 0, minorMin = 0] = natsVersionMin.split('.').map(Number)
  return major > majorMin || (major === majorMin && minor >= minorMin)
}

/** @throws EngineError with the reason when the server is too old. */
export function requireNatsVersion(version: string, where: string): void {
  if (isNatsVersionEnough(version)) return
  throw new EngineError(
    `${where} is version ${version}, at least ${natsVersionMin} is needed: older servers cannot be told to store a message before they acknowledge it (sync_interval)`,
  )
}

/** Asks a server program for its version. @throws EngineError when it cannot be run or says none. */
export async function natsProgramVersion(program: string): Promise<string> {
  const version = parseNatsVersion(await runProgram(program, ['--version'], { timeoutMs: 10_000 }))
  if (version === null) throw new EngineError(`${program} --version gives no version; is it a nats-server?`)
  return version
}

const timeoutMs = 5_000
const lineBytesMax = 65_536
const info = z.object({ version: z.string() })

/**
 * The version that a server names in its greeting, before any login. Several addresses may be given, by
 * commas.
 */
export async function natsServerVersion(url: string): Promise<string> {
  const reasons: string[] = []
  for (const address of url.split(',')) {
    try {
      return await greeting(new URL(address.includes('://') ? address.trim() : `nats://${address.trim()}`))
    } catch (error) {
      reasons.push(reasonOf(error))
    }
  }
  throw new EngineError(`the NATS server of NATS_URL cannot be used: ${reasons.join('; ')}`)
}

async function greeting(url: URL): Promise<string> {
  const socket = connect({ host: url.hostname, port: Number(url.port || 4222) })
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    await once(socket, 'connect', { signal })
    let text = ''
    while (!text.includes('\r\n') && text.length < lineBytesMax) {
      const [chunk] = await once(socket, 'data', { signal })
      text += String(chunk)
    }
    const line = /^INFO (\{.*\})/.exec(text)?.[1]
    if (line === undefined) throw new Error(`${url.host} does not greet as a NATS server`)
    return info.parse(JSON.parse(line)).version
  } catch (error) {
    if (signal.aborted) throw new Error(`${url.host} does not answer within ${timeoutMs / 1000} s`)
    throw error
  } finally {
    socket.destroy()
  }
}
