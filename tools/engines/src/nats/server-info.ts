import { once } from 'node:events'
import { connect } from 'node:net'
import { z } from 'zod'
import { EngineError, reasonOf } from '../engine-error.ts'

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
