import { bytesToHex } from '@noble/hashes/utils.js'

const SERVER_SEED_BYTES = 32

/**
 * A fresh server seed, 64 lower-case hex characters from the platform's CSPRNG. One seed serves exactly one
 * nonce.
 */
export function newServerSeed(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(SERVER_SEED_BYTES)))
}
