import { once } from 'node:events'
import { createServer } from 'node:http'
import { listenLocally } from '@pitboss/testing/listen-locally'

/** Behaviour of a receiver towards a delivery; one that hangs never answers. */
export type Behaviour = { kind: 'ok' } | { kind: 'hang' } | { kind: 'slow'; afterMs: number }

export type Receiver = {
  url: string
  /** Called with each delivery's event id and path, at its arrival. */
  onArrival(listener: (eventId: string, path: string, atMs: number) => void): void
  behave(behaviourOf: (path: string) => Behaviour): void
  close(): Promise<void>
}

/** A receiver that answers 200 at once by default, and keeps nothing. */
export async function startReceiver(): Promise<Receiver> {
  let listener: (eventId: string, path: string, atMs: number) => void = () => {}
  let behaviourOf: (path: string) => Behaviour = () => ({ kind: 'ok' })
  const server = createServer((request, response) => {
    const id = request.headers['x-svc-event-id']
    const path = request.url ?? ''
    listener(typeof id === 'string' ? id : '', path, performance.now())
    const behaviour = behaviourOf(path)
    request.resume()
    request.on('end', () => {
      if (behaviour.kind === 'ok') response.end()
      if (behaviour.kind === 'slow') setTimeout(() => response.end(), behaviour.afterMs)
    })
  })
  server.keepAliveTimeout = 65_000
  const port = await listenLocally(server)
  return {
    url: `http://127.0.0.1:${port}`,
    onArrival: (next) => {
      listener = next
    },
    behave: (next) => {
      behaviourOf = next
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
