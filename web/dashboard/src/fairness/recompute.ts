import { type Nonce, nonceSchema } from '@pitboss/contracts/objects/player'
import { pageOf } from '@pitboss/contracts/primitives'
import type { Api } from '../api/create-api.ts'
import { judgeNonce, type Judgement, type Verdict } from './judge-nonce.ts'

export const bookPage = pageOf(nonceSchema)
const perPage = '200'
/** Findings that are kept to be shown; all are counted. */
const findingsMax = 200

export type Progress = {
  readonly looked: number
  readonly counts: Readonly<Record<Verdict, number>>
  /** Gaps, mismatches and what is open, newest nonce first. */
  readonly findings: readonly Judgement[]
}

export const nothingYet: Progress = {
  looked: 0,
  counts: { verified: 0, open: 0, gap: 0, mismatch: 0 },
  findings: [],
}

/** The path of a player's book. */
export function bookPath(playerId: string, game: string): string {
  return `dashboard/players/${encodeURIComponent(playerId)}/fairness/${encodeURIComponent(game)}`
}

/** Adds a page of the book; a seed that serves two nonces is a mismatch of both. */
export function withPage(
  { looked, counts, findings }: Progress,
  page: readonly Nonce[],
  nonceOfSeed: Map<string, number>,
): Progress {
  const judged = page.map((entry) => withoutReuse(judgeNonce(entry), entry, nonceOfSeed))
  const count = (verdict: Verdict) => counts[verdict] + judged.filter((one) => one.verdict === verdict).length
  return {
    looked: looked + judged.length,
    counts: {
      verified: count('verified'),
      open: count('open'),
      gap: count('gap'),
      mismatch: count('mismatch'),
    },
    findings: [...findings, ...judged.filter(({ verdict }) => verdict !== 'verified')].slice(0, findingsMax),
  }
}

function withoutReuse(
  judged: Judgement,
  { nonce, commitment }: Nonce,
  seeds: Map<string, number>,
): Judgement {
  if (commitment === null) return judged
  const earlier = seeds.get(commitment.server_seed_hash)
  seeds.set(commitment.server_seed_hash, nonce)
  if (earlier === undefined) return judged
  return { ...judged, verdict: 'mismatch', words: `The same commitment stands at nonce ${earlier}, too.` }
}

/**
 * Reads a range of a player's book page by page and computes it again in the browser.
 * @param query the environment and the range
 * @param onPage is told how far it has come after each page
 * @throws ApiError, and an AbortError after `signal`
 */
export async function recompute(
  api: Pick<Api, 'get'>,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  onPage: (progress: Progress) => void,
): Promise<void> {
  const nonceOfSeed = new Map<string, number>()
  let progress = nothingYet
  let asked: Readonly<Record<string, string | undefined>> = { ...query, limit: perPage }
  for (;;) {
    const { data, next_cursor } = await api.get(bookPage, path, asked, signal)
    progress = withPage(progress, data, nonceOfSeed)
    onPage(progress)
    if (next_cursor === null) return
    asked = { cursor: next_cursor, limit: perPage }
  }
}
