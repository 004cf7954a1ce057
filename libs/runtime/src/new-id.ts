import { idAlphabet } from '@pitboss/contracts/id-characters'
import { randomUUID } from 'node:crypto'
import { v7 } from 'uuid'

const bitsPerCharacter = 5
/** Of an id's characters, after its prefix, so many are its time. */
const timeCharacters = 10
/** Of zeros before a uuid, which make its 128 bits 26 characters. */
const paddingBits = 2
/** Random bytes are drawn for so many ids at once: a draw costs more than its bytes. */
const idsPerDraw = 128
const idBytes = 16
const drawn = new Uint8Array(idsPerDraw * idBytes)
let used = drawn.length
/** Of the newest id: its time, and its number among those of the same millisecond. */
const newest = { msecs: 0, seq: 0 }

/**
 * `<prefix>_` and 26 characters of lower-case Crockford base32: a UUIDv7, so ids made later sort later
 * (strictly within a process). Source: docs/contract.md, section 1.
 * @throws RangeError for a prefix that is not lower-case letters.
 */
export function newId(prefix: string): string {
  if (!/^[a-z]{2,8}$/.test(prefix)) throw new RangeError(`bad id prefix: ${prefix}`)
  if (used === drawn.length) {
    crypto.getRandomValues(drawn)
    used = 0
  }
  const random = drawn.subarray(used, used + idBytes)
  used += idBytes
  const now = Date.now()
  if (now > newest.msecs) {
    newest.msecs = now
    // Its highest bit stays free, so that thousands of millions follow within one millisecond.
    newest.seq = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1
  } else newest.seq += 1
  return idOf(prefix, v7({ ...newest, random }, new Uint8Array(idBytes)))
}

/**
 * 64 random bits as 16 hex digits: the two ends of a random uuid, which hold no version and no variant.
 * Node draws many uuids at once, so that one costs a tenth of eight bytes drawn alone.
 */
export function randomHex(): string {
  const random = randomUUID()
  return random.slice(0, 8) + random.slice(-8)
}

/** When an id was made, in milliseconds since 1970; 0 for a text that is none. */
export function idTimeMs(id: string): number {
  const begin = id.indexOf('_') + 1
  let ms = 0
  for (let index = begin; index < begin + timeCharacters; index++) {
    const digit = idAlphabet.indexOf(id.charAt(index))
    if (begin === 0 || digit === -1 || index >= id.length) return 0
    ms = ms * 2 ** bitsPerCharacter + digit
  }
  return ms
}

/** The id of these 16 bytes. */
export function idOf(prefix: string, bytes: Uint8Array): string {
  let text = ''
  let held = 0
  let heldBits = paddingBits
  for (const byte of bytes) {
    held = (held << 8) | byte
    heldBits += 8
    while (heldBits >= bitsPerCharacter) {
      heldBits -= bitsPerCharacter
      text += idAlphabet.charAt(held >> heldBits)
      held &= (1 << heldBits) - 1
    }
  }
  return `${prefix}_${text}`
}
