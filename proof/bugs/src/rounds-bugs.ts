import type { Bus } from '@pitboss/bus/connect-bus'
import { ServiceError } from '@pitboss/errors/service-error'
import { newServerSeed } from '@pitboss/fairness/server-seed'
import { formatAmount, parseAmount } from '@pitboss/money/amount'
import type { Placement, WalletClient } from '@pitboss/rounds/clients/wallet'
import type { CommitmentsStore } from '@pitboss/rounds/storage/commitments-store'
import type { PlaceTransaction } from '@pitboss/rounds/actions/place-transaction'
import type { RoundsWrap } from '@pitboss/rounds/app'
import type { HasBug } from './bugs.ts'
import { busWith } from './bus-bugs.ts'
import type { RoundsStore } from '@pitboss/rounds/storage/rounds-store'

/** The bugs of rounds. Each part goes through unchanged unless its bug is named. */

/** What goes around the parts of a rounds service that errs. */
export function roundsWith(has: HasBug): RoundsWrap {
  return {
    rounds: (store) => roundsStoreWith(store, has),
    commitments: (store) => commitmentsWith(store, has),
    wallet: (client) => walletWith(client, has),
    bus: (bus: Bus) => busWith(bus, has),
    placeTransaction: (place, wallet) => placeTransactionWith(place, wallet, has),
  }
}

/** Answers a known id with another body by the first record. */
function placeTransactionWith(place: PlaceTransaction, wallet: WalletClient, has: HasBug): PlaceTransaction {
  if (!has('rounds.other-body-accepted')) return place
  return async (caller, body, context) => {
    try {
      return await place(caller, body, context)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'TRANSACTION_CONFLICT') throw error
      const shown = await wallet.show(caller.scope, body.transaction_id, context)
      if (shown === null) throw error
      return { status: 200, body: shown.movement }
    }
  }
}

/** Asks for a minor unit too much, or takes an unknown outcome for a yes. */
export function walletWith(wallet: WalletClient, has: HasBug): WalletClient {
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

/** Leaves out nonces, or events, or writes over what somebody else has written. */
export function roundsStoreWith(rounds: RoundsStore, has: HasBug): RoundsStore {
  if (has('rounds.nonce-skipped')) {
    return {
      ...rounds,
      async last(sequence) {
        const last = await rounds.last(sequence)
        return { ...last, nonce: last.nonce + (last.nonce % 3 === 1 ? 1 : 0) }
      },
    }
  }
  if (has('storage.fence-lost')) {
    return {
      ...rounds,
      async update(stored, write, now) {
        const fresh = await rounds.findAnywhere(stored.round.id)
        return rounds.update({ ...stored, version: fresh?.version ?? stored.version }, write, now)
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
export function commitmentsWith(commitments: CommitmentsStore, has: HasBug): CommitmentsStore {
  if (!has('rounds.redrawn-after-restart')) return commitments
  const begunHere = new Set<string>()
  return {
    ...commitments,
    async ensure(sequence, nonce, now) {
      const commitment = await commitments.ensure(sequence, nonce, now)
      begunHere.add(commitment.sealedSeed)
      return commitment
    },
    open: (sequence, nonce, sealedSeed) =>
      begunHere.has(sealedSeed) ? commitments.open(sequence, nonce, sealedSeed) : newServerSeed(),
  }
}
