import { once } from 'node:events'
import type { Server } from 'node:net'

/**
 * Lets a server (HTTP's, too) listen on a free port of 127.0.0.1, and resolves to that port once it does.
 * Source: ours.
 */
export async function listenLocally(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}
