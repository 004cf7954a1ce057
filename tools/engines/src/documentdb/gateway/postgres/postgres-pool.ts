import { ConnectionLost, MongoError } from '../errors/mongo-error.ts'
import { mongoCode } from '../errors/error-codes.ts'
import type { PostgresConnection } from './postgres-connection.ts'

export type PostgresPoolOptions = {
  open: () => Promise<PostgresConnection>
  /** Connections at most; they are opened when needed and kept. */
  size: number
  /** Time that a caller waits for a connection before ExceededTimeLimit. */
  waitMsMax: number
}

type Waiter = {
  resolve: (connection: PostgresConnection) => void
  reject: (error: Error) => void
  timer: NodeJS.Timeout
}

/** A bounded number of connections, lent one at a time, first come first served. */
export class PostgresPool {
  readonly #options: PostgresPoolOptions
  readonly #idle: PostgresConnection[] = []
  readonly #all = new Set<PostgresConnection>()
  readonly #waiting = new Set<Waiter>()
  #opening = 0

  constructor(options: PostgresPoolOptions) {
    this.#options = options
  }

  get lent(): number {
    return this.#all.size - this.#idle.length
  }

  /**
   * Lends a connection; the caller gives it back with `release`.
   * @throws ConnectionLost when PostgreSQL is away; MongoError ExceededTimeLimit when none came free in time.
   */
  acquire(): Promise<PostgresConnection> {
    const idle = this.#takeIdle()
    if (idle !== null) return Promise.resolve(idle)
    const { promise, resolve, reject } = Promise.withResolvers<PostgresConnection>()
    const timer = setTimeout(() => {
      this.#waiting.delete(waiter)
      reject(new MongoError(mongoCode.ExceededTimeLimit, 'no connection to PostgreSQL came free in time'))
    }, this.#options.waitMsMax)
    const waiter = { resolve, reject, timer }
    this.#waiting.add(waiter)
    this.#grow()
    return promise
  }

  release(connection: PostgresConnection): void {
    if (connection.isLost) return
    const waiter = this.#nextWaiter()
    if (waiter === null) this.#idle.push(connection)
    else waiter.resolve(connection)
  }

  /** Lends a connection for the time of `work`. */
  async use<Result>(work: (connection: PostgresConnection) => Promise<Result>): Promise<Result> {
    const connection = this.#takeIdle() ?? (await this.acquire())
    try {
      return await work(connection)
    } finally {
      this.release(connection)
    }
  }

  /** Breaks all connections and turns away all who wait. */
  reset(): void {
    for (const connection of this.#all) connection.destroy()
    for (let waiter = this.#nextWaiter(); waiter !== null; waiter = this.#nextWaiter()) {
      waiter.reject(new ConnectionLost('PostgreSQL is away'))
    }
  }

  #takeIdle(): PostgresConnection | null {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.isLost) return idle
    }
    return null
  }

  #nextWaiter(): Waiter | null {
    for (const waiter of this.#waiting) {
      this.#waiting.delete(waiter)
      clearTimeout(waiter.timer)
      return waiter
    }
    return null
  }

  #grow(): void {
    if (this.#all.size + this.#opening >= this.#options.size || this.#opening >= this.#waiting.size) return
    this.#opening++
    this.#options.open().then(
      (connection) => {
        this.#opening--
        this.#all.add(connection)
        void connection.gone.then(() => this.#forget(connection))
        this.release(connection)
      },
      (error: unknown) => {
        this.#opening--
        const lost = error instanceof Error ? error : new ConnectionLost(String(error))
        this.#nextWaiter()?.reject(new ConnectionLost(lost.message, { cause: error }))
      },
    )
  }

  #forget(connection: PostgresConnection): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    this.#grow()
  }
}
