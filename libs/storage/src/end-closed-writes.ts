import { createRequire } from 'node:module'

type Cleanup = (this: { readonly socket: NodeJS.EventEmitter }, error: Error) => void

/**
 * Mends the driver, whose write to a socket that has closed a moment before waits for a `drain` that never
 * comes: the operation hangs for ever, and a heartbeat that does so leaves its client without a database
 * until the process ends. After this, every waiting write of a connection that is cleaned up ends, with the
 * connection's error. Calling it again changes nothing. Seen in 7.8.0 and 7.9.0 of the driver.
 */
export function endClosedWrites(): void {
  const driver: { Connection: { prototype: { cleanup: Cleanup } } } = createRequire(import.meta.url)(
    'mongodb/lib/cmap/connection.js',
  )
  const { prototype } = driver.Connection
  const { cleanup } = prototype
  if (mended.has(cleanup)) return
  prototype.cleanup = function cleanUp(error) {
    cleanup.call(this, error)
    this.socket.emit('drain')
  }
  mended.add(prototype.cleanup)
}

const mended = new WeakSet<Cleanup>()
