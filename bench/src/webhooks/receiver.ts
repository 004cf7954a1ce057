import { createServer } from 'node:http'
import { once } from 'node:events'

export type Receiver = {
  url: string
  /** Called with each delivery's event id and path, at its arrival. */
  onArrival(listener: (eventId: string, path: string, atMs: number) => void): void
  close(): Promise<void>
}

/** A receiver that answers 200 at once and keeps nothing. */
export async function startReceiver(): Promise<Receiver> {
  let listener: (eventId: string, path: string, atMs: number) => void = () => {}
  const server = createServer((request, response) => {
    const id = request.headers['x-svc-event-id']
    listener(typeof id === 'string' ? id : '', request.url ?? '', performance.now())
    request.resume()
    request.on('end', () => response.end())
  })
  server.keepAliveTimeout = 65_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    onArrival: (next) => {
      listener = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
