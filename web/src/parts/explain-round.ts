import type { DrawStep, Seeds } from '@pitboss/fairness/fair-v1'
import { checkCommitment, readRound } from '@pitboss/fairness/read-round'
import { seedHash } from '@pitboss/fairness/server-seed'
import { replayRound, roundKind, type VerifyOptions } from '@pitboss/fairness/verify-round'

export type Explanation = {
  readonly seeds: Seeds
  /** SHA-256 of the server seed, computed here. */
  readonly serverSeedHash: string
  /** Every draw: HMAC messages, words, rejections, result. Empty for a round without an outcome of ours. */
  readonly draws: readonly DrawStep[]
}

/** The steps of a finished round's draw, to follow by hand; null when it cannot be drawn. Never throws. */
export function explainRound(input: unknown, options: VerifyOptions = {}): Explanation | null {
  const read = readRound(input)
  if (!read.ok) return null
  const { seeds } = checkCommitment(read.round)
  if (seeds === null) return null
  const serverSeedHash = seedHash(seeds.serverSeed)
  if (roundKind(read.round) !== 'game') return { seeds, serverSeedHash, draws: [] }
  const replay = replayRound(read.round, seeds, options)
  const draws = replay.ok && replay.state.over ? replay.state.steps : []
  return { seeds, serverSeedHash, draws }
}
