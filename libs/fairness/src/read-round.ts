import { FAIR_V1, type Seeds } from './fair-v1.ts'
import { type Check, compare, failure } from './check.ts'
import { isIntegerWithin, readObject } from './games/read-fields.ts'
import { isServerSeed, seedHash } from './server-seed.ts'

const CLIENT_SEED_PATTERN = /^[A-Za-z0-9_-]{0,64}$/

export type Fields = ReadonlyMap<string, unknown>

/** The fields of a round, of `round.completed` data or of its envelope; else a failed check. Never throws. */
export function readRound(input: unknown): { ok: true; round: Fields } | { ok: false; check: Check } {
  const fields = readObject(input)
  const wanted = 'a round, or a round.completed event'
  if (fields === null) return { ok: false, check: failure('input', wanted, input) }
  const isEnvelope = fields.has('data') && fields.has('type')
  if (!isEnvelope) return { ok: true, round: fields }
  if (fields.get('type') !== 'round.completed') {
    return { ok: false, check: compare('event type', 'round.completed', fields.get('type')) }
  }
  const data = readObject(fields.get('data'))
  if (data === null) return { ok: false, check: failure('input', wanted, fields.get('data')) }
  return { ok: true, round: data }
}

/**
 * Checks a round's `fairness` and gives the seeds when its commitment is complete and holds.
 * `seeds` is null when nothing can be drawn: a part is missing or malformed, or the seed is not revealed yet.
 */
export function checkCommitment(round: Fields): { checks: Check[]; seeds: Seeds | null } {
  const fairness = readObject(round.get('fairness'))
  if (fairness === null) {
    return {
      checks: [failure('fairness', 'an object with the seeds and the nonce', round.get('fairness'))],
      seeds: null,
    }
  }
  const malformed: Check[] = []
  const algorithm = fairness.get('algorithm')
  if (algorithm !== undefined && algorithm !== FAIR_V1)
    malformed.push(compare('algorithm', FAIR_V1, algorithm))
  const clientSeed = fairness.get('client_seed')
  if (!isClientSeed(clientSeed)) {
    malformed.push(failure('client seed', 'null or up to 64 of A-Z a-z 0-9 _ -', clientSeed))
  }
  const nonce = fairness.get('nonce')
  if (!isIntegerWithin(nonce, 1, Number.MAX_SAFE_INTEGER)) {
    malformed.push(failure('nonce', 'an integer from 1 on', nonce))
  }
  const serverSeed = fairness.get('server_seed')
  if (!isServerSeed(serverSeed)) {
    const wanted =
      serverSeed === null
        ? '64 hex characters, revealed once the round has ended'
        : '64 lower-case hex characters'
    malformed.push(failure('server seed', wanted, serverSeed))
    return { checks: malformed, seeds: null }
  }
  const hash = compare('server seed hash', seedHash(serverSeed), fairness.get('server_seed_hash'))
  const usable = malformed.length === 0 && isClientSeed(clientSeed) && typeof nonce === 'number'
  return { checks: [hash, ...malformed], seeds: usable ? { serverSeed, clientSeed, nonce } : null }
}

function isClientSeed(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && CLIENT_SEED_PATTERN.test(value))
}
