import { createHash } from 'node:crypto'

const startSlots = 1 << 12
const fillMax = 0.6

/**
 * A set of texts in 8 bytes each, by the first 64 bits of their SHA-256: a million ids fit into some 27 MB
 * with room to grow. Two different texts are taken for one with a chance of about n² / 2^65.
 */
export class IdSet {
  #slots = new BigUint64Array(startSlots)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Whether the text was new. */
  add(text: string): boolean {
    if (this.#size >= this.#slots.length * fillMax) this.#grow()
    const added = insert(this.#slots, fingerprint(text))
    if (added) this.#size += 1
    return added
  }

  has(text: string): boolean {
    const wanted = fingerprint(text)
    return this.#slots[slotOf(this.#slots, wanted)] === wanted
  }

  #grow(): void {
    const larger = new BigUint64Array(this.#slots.length * 2)
    for (const value of this.#slots) if (value !== 0n) insert(larger, value)
    this.#slots = larger
  }
}

function insert(slots: BigUint64Array, value: bigint): boolean {
  const slot = slotOf(slots, value)
  if (slots[slot] === value) return false
  slots[slot] = value
  return true
}

/** The slot that holds the value, or the free one where it belongs. There is always a free one. */
function slotOf(slots: BigUint64Array, value: bigint): number {
  const mask = slots.length - 1
  let slot = Number(value & BigInt(mask))
  while (slots[slot] !== 0n && slots[slot] !== value) slot = (slot + 1) & mask
  return slot
}

/** Never 0, which marks a free slot. */
function fingerprint(text: string): bigint {
  const value = createHash('sha256').update(text).digest().readBigUInt64LE(0)
  return value === 0n ? 1n : value
}
