import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'

const WORDS_PER_BLOCK = 8
const WORD_RANGE = 2 ** 32
/** Keeps word × range inside the integers that a double holds exactly. */
const RANGE_MAX = 2 ** 21
/** A fair word source rejects with a chance below 2^-11 per word; after this many in a row it is broken. */
const REJECTIONS_MAX = 64

/** The public name of the algorithm, `fairness.algorithm` in rounds and events. */
export const FAIR_V1 = 'fair-v1'

/** Everything that a draw depends on. A null client seed draws as the empty string. */
export type Seeds = {
  readonly serverSeed: string
  readonly clientSeed: string | null
  readonly nonce: number
}

/** One draw with everything needed to show how it came about. */
export type DrawStep = {
  /** Exclusive upper bound of the result. */
  readonly range: number
  /** 32-bit words taken for this draw: the rejected ones in order, then the one that counted. */
  readonly words: readonly number[]
  /** HMAC message of the block which each word came from. */
  readonly messages: readonly string[]
  readonly rejections: number
  readonly result: number
}

export type DrawSource = {
  /** An unbiased integer from 0 to range − 1. @throws RangeError for a range outside 1 to 2^21 */
  draw(range: number): number
  /** The draws made so far. */
  readonly steps: readonly DrawStep[]
}

/**
 * The fair-v1 draw: big-endian 32-bit words of HMAC-SHA256(server seed, client seed ":" nonce ":" block),
 * block 0, 1, 2 …, reduced to a range by multiplication with rejection. Deterministic, no clock, no
 * randomness. Source: docs/contract.md, section 4.
 */
export function createDrawSource(seeds: Seeds): DrawSource {
  const key = utf8ToBytes(seeds.serverSeed)
  const steps: DrawStep[] = []
  let block = -1
  let message = ''
  let view = new DataView(new ArrayBuffer(0))
  let wordIndex = WORDS_PER_BLOCK

  function nextWord(): number {
    if (wordIndex === WORDS_PER_BLOCK) {
      block += 1
      wordIndex = 0
      message = `${seeds.clientSeed ?? ''}:${seeds.nonce}:${block}`
      view = new DataView(hmac(sha256, key, utf8ToBytes(message)).buffer)
    }
    return view.getUint32(4 * wordIndex++, false)
  }

  return {
    steps,
    draw(range) {
      if (!Number.isInteger(range) || range < 1 || range > RANGE_MAX) {
        throw new RangeError(`a draw needs a range from 1 to ${RANGE_MAX}`)
      }
      const words: number[] = []
      const messages: string[] = []
      for (let rejections = 0; rejections <= REJECTIONS_MAX; rejections++) {
        const word = nextWord()
        words.push(word)
        messages.push(message)
        const product = word * range
        if (product % WORD_RANGE < WORD_RANGE % range) continue
        const result = Math.floor(product / WORD_RANGE)
        steps.push({ range, words, messages, rejections, result })
        return result
      }
      throw new Error('the word source rejects every draw')
    },
  }
}
