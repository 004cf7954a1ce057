import type { RoundState } from '@pitboss/rounds/rules/round'

/** In which round, and since when, an id of a client is part of the product's own record. */
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

function idsOf({ stakes, wins, reversals, clientTransactionId }: RoundState): string[] {
  const ids = [...stakes, ...wins, ...reversals].map(({ transactionId }) => transactionId)
  return clientTransactionId === null ? ids : [...ids, clientTransactionId]
}
