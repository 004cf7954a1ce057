import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

const SERVER_SEED_PATTERN = /^[0-9a-f]{64}$/

/** Commitment to a server seed: hex SHA-256 of its text. Source: docs/contract.md, section 4, fair-v1. */
export function seedHash(serverSeed: string): string {
  return bytesToHex(sha256(utf8ToBytes(serverSeed)))
}

/** True for 64 lower-case hex characters. */
export function isServerSeed(value: unknown): value is string {
  return typeof value === 'string' && SERVER_SEED_PATTERN.test(value)
}

const SERVER_SEED_BYTES = 32

/** A fresh server seed for exactly one nonce: 64 hex characters from the platform's CSPRNG. */
export function newServerSeed(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(SERVER_SEED_BYTES)))
}
