import { requestKey } from '@pitboss/chaos/check/requests'
import { movementsOf, type RoundState } from '@pitboss/rounds/rules/round'

/** In which round, and since when, a client's id or request is part of the product's own record. */
export type Acceptance = { readonly roundId: string; readonly atMs: number }

export type Accepted = {
  roundWritten(before: RoundState | null, after: RoundState): void
  all(): ReadonlyMap<string, Acceptance>
}

/**
 * Notes when the intent of each movement was stored; of one that was taken back and asked for again, the
 * last time.
 */
export function createAccepted(nowMs: () => number): Accepted {
  const accepted = new Map<string, Acceptance>()
  return {
    roundWritten(before, after) {
      const known = new Set(before === null ? [] : idsOf(before))
      for (const id of idsOf(after)) {
        if (!known.has(id)) accepted.set(id, { roundId: after.id, atMs: nowMs() })
      }
    },
    all: () => accepted,
  }
}

function idsOf(round: RoundState): string[] {
  const ids = movementsOf(round).map(({ transactionId }) => transactionId)
  const key = requestKeyOf(round)
  return key === null ? ids : [...ids, key]
}

/** The key under which the page's request of a game round is noted; null where it had no id. */
export function requestKeyOf({ driver, playerId, game, clientTransactionId: id }: RoundState): string | null {
  return driver === 'game' && id !== null ? requestKey(playerId, game, id) : null
}
