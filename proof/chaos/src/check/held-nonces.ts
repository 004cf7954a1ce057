/** Where a lost round stood: in which nonce sequence, and at which nonce. */
export type LostPlace = { readonly sequence: string; readonly nonce: number }

/**
 * The lost rounds whose nonce is given to no later one, once a restored database of rounds is healed. An
 * event tells the nonce itself. A stake alone holds the next nonce, which is one too low for each round
 * before it of which nothing tells. Source: docs/runbook.md, "The database of rounds was restored".
 */
export function heldNonces(
  lost: ReadonlyMap<string, LostPlace>,
  { isTold, hasStake }: { isTold: (roundId: string) => boolean; hasStake: (roundId: string) => boolean },
): [roundId: string, LostPlace][] {
  const untold = [...lost].filter(([roundId]) => !isTold(roundId) && !hasStake(roundId))
  return [...lost].filter(([roundId, { sequence, nonce }]) => {
    if (isTold(roundId)) return true
    const isMissed = untold.some(([, before]) => before.sequence === sequence && before.nonce < nonce)
    return hasStake(roundId) && !isMissed
  })
}
