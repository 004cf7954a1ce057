import type { Check } from '@pitboss/fairness/check'
import { type Explanation, explainRound } from '@pitboss/fairness/explain-round'
import { verifyRound } from '@pitboss/fairness/verify-round'

const charactersMax = 256 * 1024

export type Judgement =
  | { readonly readable: false; readonly problem: string }
  | {
      readonly readable: true
      readonly round: unknown
      readonly valid: boolean
      readonly checks: readonly Check[]
      readonly explanation: Explanation | null
    }

/** Reads pasted JSON and verifies it. Never throws. */
export function judge(text: string): Judgement {
  if (text.length > charactersMax) return { readable: false, problem: 'This is too long to be a round.' }
  const round = readJson(text)
  if (round === undefined) {
    return { readable: false, problem: 'This is not JSON. Paste the whole round, from { to }.' }
  }
  const { valid, checks } = verifyRound(round)
  return { readable: true, round, valid, checks, explanation: explainRound(round) }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
