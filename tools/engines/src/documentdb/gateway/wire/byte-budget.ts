/** Shares a number of bytes among those who buffer large messages; who finds none left waits its turn. */
export class ByteBudget {
  #free: number
  readonly #waiting: { bytes: number; grant: () => void }[] = []

  constructor(bytes: number) {
    this.#free = bytes
  }

  /** Resolves when `bytes` are reserved. The caller gives them back with `release`. */
  reserve(bytes: number): Promise<void> {
    return new Promise((grant) => {
      this.#waiting.push({ bytes, grant })
      this.#serve()
    })
  }

  release(bytes: number): void {
    this.#free += bytes
    this.#serve()
  }

  #serve(): void {
    for (
      let next = this.#waiting[0];
      next !== undefined && next.bytes <= this.#free;
      next = this.#waiting[0]
    ) {
      this.#waiting.shift()
      this.#free -= next.bytes
      next.grant()
    }
  }
}
