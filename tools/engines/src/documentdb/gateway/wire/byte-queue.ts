/** Bytes that arrived in pieces. Taking a frame copies it only when it lies across pieces, and then once. */
export class ByteQueue {
  #chunks: Buffer[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /** The first `count` bytes without removing them; null while fewer are there. Meant for short headers. */
  peek(count: number): Buffer | null {
    if (this.#length < count) return null
    const first = this.#chunks[0]
    if (first !== undefined && first.length >= count) return first.subarray(0, count)
    const header = Buffer.allocUnsafe(count)
    let filled = 0
    for (const chunk of this.#chunks) {
      filled += chunk.copy(header, filled, 0, Math.min(chunk.length, count - filled))
      if (filled === count) break
    }
    return header
  }

  /** Removes and returns the first `count` bytes; null while fewer are there. */
  take(count: number): Buffer | null {
    if (this.#length < count) return null
    const first = this.#chunks[0]
    if (first === undefined) return Buffer.alloc(0)
    this.#length -= count
    if (first.length === count) {
      this.#chunks.shift()
      return first
    }
    if (first.length > count) {
      this.#chunks[0] = first.subarray(count)
      return first.subarray(0, count)
    }
    return this.#join(count)
  }

  #join(count: number): Buffer {
    const whole = Buffer.allocUnsafe(count)
    let filled = 0
    let used = 0
    for (const chunk of this.#chunks) {
      const part = Math.min(chunk.length, count - filled)
      chunk.copy(whole, filled, 0, part)
      filled += part
      if (part < chunk.length) {
        this.#chunks[used] = chunk.subarray(part)
        break
      }
      used++
    }
    this.#chunks.splice(0, used)
    return whole
  }
}
