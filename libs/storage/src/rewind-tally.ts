/** Result of one message of a rewound consumer. */
export type HandledMessage = {
  readonly seq: number
  readonly result: 'repaired' | 'unchanged' | 'parked'
}

export type RewindCounts = { seen: number; repaired: number; unchanged: number; parked: number }

/** Bits of sequences by the word that they lie in, `w0` first. */
export type Bits = Readonly<Record<string, number>>

/** A part of a rewound range: one bit for each message that has ended, and for each that ended so. */
export type RewindPart = { readonly seen?: Bits; readonly repaired?: Bits; readonly parked?: Bits }

const wordBits = 32

/** Number of sequences in a part. */
export const partSize = 32 * wordBits

/** The bits to set for messages of the part that begins with `firstSeq`: by field and word. */
export function bitsOf(
  firstSeq: number,
  messages: readonly HandledMessage[],
): Record<string, { or: number }> {
  const bits: Record<string, { or: number }> = {}
  for (const { seq, result } of messages) {
    const place = seq - firstSeq
    const fields = result === 'unchanged' ? ['seen'] : ['seen', result]
    for (const field of fields) {
      const path = `${field}.w${Math.floor(place / wordBits)}`
      bits[path] = { or: (bits[path]?.or ?? 0) | (1 << (place % wordBits)) }
    }
  }
  return bits
}

/** Counts parts. A message that ended more than once counts once, and as repaired if it ever was. */
export function countParts(parts: readonly RewindPart[]): RewindCounts {
  const counts = { seen: 0, repaired: 0, unchanged: 0, parked: 0 }
  for (const { seen = {}, repaired = {}, parked = {} } of parts) {
    for (const [word, bits] of Object.entries(seen)) {
      const isRepaired = repaired[word] ?? 0
      const isParked = (parked[word] ?? 0) & ~isRepaired
      counts.seen += ones(bits)
      counts.repaired += ones(isRepaired)
      counts.parked += ones(isParked)
      counts.unchanged += ones(bits & ~isRepaired & ~isParked)
    }
  }
  return counts
}

export function addCounts(left: RewindCounts, right: RewindCounts): RewindCounts {
  return {
    seen: left.seen + right.seen,
    repaired: left.repaired + right.repaired,
    unchanged: left.unchanged + right.unchanged,
    parked: left.parked + right.parked,
  }
}

function ones(word: number): number {
  let count = 0
  for (let left = word; left !== 0; left &= left - 1) count++
  return count
}
