import { once } from 'node:events'
import { createServer } from 'node:http'
import { z } from 'zod'

const event = z.object({ type: z.string(), data: z.object({ round_id: z.string().optional() }) })

export type Receiver = {
  /** Without a path. Paths that begin with `/hang` are never answered until `calm`. */
  readonly port: number
  /** Waits for the end of a round to be told. @returns when, on the clock of `performance` */
  completed(roundId: string): Promise<number>
  /** From now on all deliveries are answered at once. */
  calm(): void
}

/** A receiver of the healthy tenant and of strangers whose endpoints hang; keeps what is waited for alone. */
export async function startReceiver(cleanup: { add(undo: () => Promise<void>): void }): Promise<Receiver> {
  const arrivals = new Map<string, PromiseWithResolvers<number>>()
  const hanging = new Set<() => void>()
  const arrivalOf = (roundId: string) => {
    const known = arrivals.get(roundId) ?? Promise.withResolvers<number>()
    arrivals.set(roundId, known)
    return known
  }
  let isCalm = false
  const server = createServer((request, response) => {
    const atMs = performance.now()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const hangs = request.url?.startsWith('/hang') === true
      if (hangs && !isCalm) return hanging.add(() => response.end())
      response.end()
      if (hangs) return
      const { type, data } = event.parse(JSON.parse(Buffer.concat(chunks).toString()))
      if (type === 'round.completed' && data.round_id !== undefined) arrivalOf(data.round_id).resolve(atMs)
    })
  })
  server.keepAliveTimeout = 65_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.add(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  return {
    port: address.port,
    async completed(roundId) {
      const atMs = await arrivalOf(roundId).promise
      arrivals.delete(roundId)
      return atMs
    },
    calm() {
      isCalm = true
      for (const answer of hanging) answer()
      hanging.clear()
    },
  }
}
