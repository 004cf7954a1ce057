import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionLost } from '../errors/mongo-error.ts'
import type { PostgresConnection } from '../postgres/postgres-connection.ts'

/** Time that a command waits for PostgreSQL to come back: a restart takes about a second. */
const waitMsMax = 10_000

/** Whether PostgreSQL can be asked now. Commands that arrive while it is away wait a little for it. */
export class Availability {
  #up = false
  #ended = false
  readonly #waiting = new Set<() => void>()

  /** @throws ConnectionLost when PostgreSQL does not come back in time or the gateway ends. */
  async ready(): Promise<void> {
    if (this.#ended) throw new ConnectionLost('the gateway ends')
    if (!this.#up) await this.#comeback()
  }

  get isUp(): boolean {
    return this.#up
  }

  up(): void {
    this.#up = true
    this.#wake()
  }

  down(): void {
    this.#up = false
  }

  /** Turns away every command from now on. */
  end(): void {
    this.#ended = true
    this.#up = false
    this.#wake()
  }

  async #comeback(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, waitMsMax)
    this.#waiting.add(resolve)
    await promise
    clearTimeout(timer)
    this.#waiting.delete(resolve)
    if (!this.#up) throw new ConnectionLost('PostgreSQL is away')
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve()
  }
}

type WatchPostgresOptions = {
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
