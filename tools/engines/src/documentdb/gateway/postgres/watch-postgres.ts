import { setTimeout as delay } from 'node:timers/promises'
import type { PostgresConnection } from './postgres-connection.ts'

export type WatchPostgresOptions = {
  open: () => Promise<PostgresConnection>
  /** Called on the connection that is kept; a throw ends the attempt. */
  prepare: (connection: PostgresConnection) => Promise<void>
  onUp: () => void
  onDown: () => void
  /** An attempt to reach PostgreSQL failed; it is repeated. */
  onFailure: (error: unknown) => void
}

const retryMs = 100

/**
 * Keeps one connection open and tells when PostgreSQL comes and goes, for as long as the gateway lives.
 * @returns a function that ends the watch.
 */
export function watchPostgres({ open, prepare, onUp, onDown, onFailure }: WatchPostgresOptions): () => void {
  const stopped = new AbortController()
  let current: PostgresConnection | null = null

  async function watch(): Promise<void> {
    while (!stopped.signal.aborted) {
      try {
        current = await open()
        await prepare(current)
      } catch (error) {
        current?.destroy()
        onFailure(error)
        await delay(retryMs)
        continue
      }
      onUp()
      await current.gone
      onDown()
    }
    current?.destroy()
  }

  void watch()
  return () => {
    stopped.abort()
    current?.destroy()
  }
}
