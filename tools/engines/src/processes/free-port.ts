import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { EngineError } from '../engine-error.ts'

/**
 * Below the range from which systems take the ports of outgoing connections: such a port cannot be taken from
 * an engine while it restarts, and a client that knocks meanwhile cannot end up connected to itself.
 */
const portMin = 20_000
const portMax = 32_000
const attemptsMax = 100
const handedOut = new Set<number>()

/** A free port of 127.0.0.1 that this process has not been given before. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const port = randomInt(portMin, portMax)
    if (handedOut.has(port) || !(await isFreePort(port))) continue
    handedOut.add(port)
    return port
  }
  throw new EngineError(`no free port was found between ${portMin} and ${portMax} on 127.0.0.1`)
}

/**
 * The port that was chosen for `what`, or a free one where none (or 0) was.
 * @throws EngineError when the chosen port is taken.
 */
export async function choosePort(port: number | undefined, what: string): Promise<number> {
  if (!port) return freePort()
  if (await isFreePort(port)) return port
  throw new EngineError(
    `port ${port} for ${what} is taken by another process; free it or choose another port`,
  )
}

/** Whether a port of 127.0.0.1 is free now. */
export async function isFreePort(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
