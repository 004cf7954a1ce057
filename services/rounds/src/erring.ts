import { seededBug } from '@pitboss/runtime/seeded-bug'
import { newServerSeed } from '@pitboss/fairness/new-server-seed'
import { formatAmount, parseAmount } from '@pitboss/money/amount'
import type { Placement, WalletClient } from './clients/wallet.ts'
import type { CommitmentsStore } from './storage/commitments-store.ts'
import type { RoundsStore } from './storage/rounds-store.ts'

/** Seeded bugs of rounds (see libs/runtime's seeded-bug.ts): each part goes through unchanged unless its bug is armed. */

/** Asks for a minor unit too much, or takes an unknown outcome for a yes. */
export function erringWallet(wallet: WalletClient, has = seededBug): WalletClient {
  if (has('rounds.payout-one-more')) {
    return {
      ...wallet,
      place(scope, order, context) {
        const { spec } = order
        const minor = parseAmount(spec.amount, spec.currency)
        const more = spec.type === 'WIN' && minor > 0n ? minor + 1n : minor
        const amount = formatAmount(more, spec.currency)
        return wallet.place(scope, { ...order, spec: { ...spec, amount } }, context)
      },
    }
  }
  if (has('rounds.pending-stake-counts')) {
    return {
      ...wallet,
      place: async (scope, order, context) => taken(await wallet.place(scope, order, context)),
    }
  }
  return wallet
}

function taken(placement: Placement): Placement {
  if (placement.kind !== 'placed' || placement.placed.movement.type !== 'BET') return placement
  const { placed } = placement
  if (placed.outcome.kind !== 'pending') return placement
  const movement = { ...placed.movement, status: 'SUCCESS' } as const
  return { kind: 'placed', placed: { ...placed, movement, outcome: { kind: 'done' } } }
}

/** Leaves out nonces, or events. */
export function erringRounds(rounds: RoundsStore, has = seededBug): RoundsStore {
  if (has('rounds.nonce-skipped')) {
    return {
      ...rounds,
      async last(chain) {
        const last = await rounds.last(chain)
        return { ...last, nonce: last.nonce + (last.nonce % 3 === 1 ? 1 : 0) }
      },
    }
  }
  if (has('rounds.event-dropped')) {
    return {
      ...rounds,
      update: (stored, write, now) =>
        rounds.update(stored, stored.version % 2 === 0 ? { ...write, events: [] } : write, now),
    }
  }
  return rounds
}

/** Draws a round anew when it is finished by another process than the one that began it. */
export function erringCommitments(commitments: CommitmentsStore, has = seededBug): CommitmentsStore {
  if (!has('rounds.redrawn-after-restart')) return commitments
  const begunHere = new Set<string>()
  return {
    ...commitments,
    async ensure(chain, nonce, now) {
      const commitment = await commitments.ensure(chain, nonce, now)
      begunHere.add(commitment.sealedSeed)
      return commitment
    },
    open: (chain, nonce, sealedSeed) =>
      begunHere.has(sealedSeed) ? commitments.open(chain, nonce, sealedSeed) : newServerSeed(),
  }
}
