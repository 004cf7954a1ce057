import type { Caller } from '@pitboss/contracts/caller'
import { type Page, type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { RoundsContext } from '../context.ts'
import { roundBytes } from '../records/present-round.ts'
import type { RoundState } from '../rules/round.ts'
import type { ListedCommitment } from '../storage/commitments-store.ts'
import { findPlayer } from './find-player.ts'

type FairnessEntry = { readonly commitment: ListedCommitment; readonly round: RoundState | null }

/** Reads a page of the player's rounds, newest nonce first. Source: docs/contract.md, section 11. */
export async function listPlayerRounds(
  context: RoundsContext,
  caller: Caller,
  query: PageQuery,
): Promise<Page<RoundState>> {
  const { scope, sequence } = await findPlayer(context, caller)
  return readPage({
    cursors: context.cursors,
    binding: { list: 'player-rounds', scope, chain: sequence },
    query,
    read: (below: number | null, max) => context.rounds.listSequence(sequence, { below, max }),
    positionOf: ({ nonce }) => nonce,
    bytesOf: roundBytes,
  })
}

/** Reads a page of nonces with commitment and round, newest first; the next nonce has no round yet. */
export async function listFairness(
  context: RoundsContext,
  caller: Caller,
  query: PageQuery,
): Promise<Page<FairnessEntry>> {
  const { scope, sequence } = await findPlayer(context, caller)
  const last = await context.rounds.last(sequence)
  const { items, nextCursor } = await readPage({
    cursors: context.cursors,
    binding: { list: 'fairness', scope, chain: sequence },
    query,
    read: (below: number | null, max) => context.commitments.list(sequence, { last, below, max }),
    positionOf: ({ nonce }) => nonce,
  })
  const [first] = items
  const played =
    first === undefined
      ? []
      : await context.rounds.listSequence(sequence, { below: first.nonce + 1, max: items.length })
  const byNonce = new Map(played.map((round) => [round.nonce, round]))
  const entries = items.map((commitment) => ({ commitment, round: byNonce.get(commitment.nonce) ?? null }))
  return { items: entries, nextCursor }
}
