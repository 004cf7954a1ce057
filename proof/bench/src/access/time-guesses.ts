import { randomBytes, randomInt } from 'node:crypto'
import { z } from 'zod'
import { median } from '../harness/run-pairs.ts'
import { expectStatus, type HttpClient } from '../harness/http-client.ts'
import { welchT } from './welch.ts'

/** Number of each kind, equal so that limiters and caches meet both alike. */
const keysOfEach = 400
const warmUp = 1000
/** Above this an observer could tell the two apart. */
export const welchLimit = 4.5
/**
 * A rare pause of the machine outweighs a thousand calls; the slowest share of all samples is left out of the
 * second figure.
 */
const keptShare = 0.95

const created = z.object({ api_key: z.string() })

export type GuessTimes = {
  samples: number
  unknownKeyMedianMs: number
  wrongSecretMedianMs: number
  /** Welch's t over all samples, and over the fastest 95 % of all. */
  t: number
  tWithoutPauses: number
}

/** The time to refuse an unknown key and to refuse a wrong secret, in random order, one call at a time. */
export async function timeGuesses(
  http: HttpClient,
  ownerToken: string,
  samples: number,
): Promise<GuessTimes> {
  const known: string[] = []
  for (let made = 0; made < keysOfEach; made++) {
    const body = { name: `guess ${made}`, environment: 'TEST', scopes: [], ip_allowlist: [] }
    const text = await expectStatus(
      201,
      http.send('POST', '/v1/dashboard/credentials', { token: ownerToken, body }),
    )
    known.push(created.parse(JSON.parse(text)).api_key)
  }
  const keys = { known, unknown: known.map(() => `ck_test_${randomBytes(12).toString('hex')}`) }
  const times: Record<keyof typeof keys, number[]> = { known: [], unknown: [] }
  for (let sample = -warmUp; sample < samples; sample++) {
    const kind = randomInt(2) === 0 ? 'known' : 'unknown'
    const api_key = keys[kind][randomInt(keysOfEach)] ?? ''
    const body = { api_key, api_secret: `cs_test_${randomBytes(20).toString('hex')}` }
    const fromMs = performance.now()
    const answer = await http.send('POST', '/v1/auth/token', { body })
    const tookMs = performance.now() - fromMs
    if (answer.status !== 401) throw new Error(`a guess answered ${answer.status}: ${answer.text}`)
    if (sample >= 0) times[kind].push(tookMs)
  }
  const longestMs = [...times.known, ...times.unknown].toSorted((a, b) => a - b)[
    Math.floor(samples * keptShare) - 1
  ]
  const kept = (all: readonly number[]) => all.filter((ms) => ms <= (longestMs ?? Infinity))
  return {
    samples,
    unknownKeyMedianMs: median(times.unknown),
    wrongSecretMedianMs: median(times.known),
    t: welchT(times.unknown, times.known),
    tWithoutPauses: welchT(kept(times.unknown), kept(times.known)),
  }
}
