import { ConnectionLost } from '../errors/mongo-error.ts'

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
