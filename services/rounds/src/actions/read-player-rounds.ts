import type { Caller } from '@pitboss/contracts/caller'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { z } from 'zod'
import { roundBytes } from '../records/present-round.ts'
import type { Commitment } from '../rules/new-round.ts'
import type { RoundState } from '../rules/round.ts'
import type { CommitmentsStore } from '../storage/commitments-store.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { PlayerAccess } from './player-session.ts'
import { type Page, type PageQuery, readPage } from './read-page.ts'

/** A nonce of the player in the game: its commitment, and its round once it was played. */
export type FairnessEntry = { readonly commitment: Commitment; readonly round: RoundState | null }

export type ReadPlayerRounds = ReturnType<typeof createReadPlayerRounds>

const nonceSchema = z.int().min(1)

/**
 * Creates a player's reads of rounds in the game of the session.
 * Source: docs/contract.md, section 11.
 */
export function createReadPlayerRounds({
  rounds,
  commitments,
  players,
  cursors,
}: {
  rounds: Pick<RoundsStore, 'listChain'>
  commitments: Pick<CommitmentsStore, 'list'>
  players: PlayerAccess
  cursors: CursorCodec
}) {
  return { find, list, listFairness }

  /** @throws ServiceError ROUND_NOT_FOUND */
  async function find(caller: Caller, roundId: string): Promise<RoundState> {
    return (await players.round(await players.player(caller), roundId)).round
  }

  /** Newest nonce first. */
  async function list(caller: Caller, query: PageQuery): Promise<Page<RoundState>> {
    const { scope, chain } = await players.player(caller)
    return readPage({
      cursors,
      binding: { list: 'player-rounds', scope, chain },
      query,
      position: nonceSchema,
      read: (below, max) => rounds.listChain(chain, { below, max }),
      positionOf: ({ nonce }) => nonce,
      bytesOf: roundBytes,
    })
  }

  /** Every nonce with its commitment and its round, newest first; the next nonce has no round yet. */
  async function listFairness(caller: Caller, query: PageQuery): Promise<Page<FairnessEntry>> {
    const { scope, chain } = await players.player(caller)
    const { items, nextCursor } = await readPage({
      cursors,
      binding: { list: 'fairness', scope, chain },
      query,
      position: nonceSchema,
      read: (below, max) => commitments.list(chain, { below, max }),
      positionOf: ({ nonce }) => nonce,
    })
    const first = items[0]
    const played =
      first === undefined ? [] : await rounds.listChain(chain, { below: first.nonce + 1, max: items.length })
    const byNonce = new Map(played.map((round) => [round.nonce, round]))
    const entries = items.map((commitment) => ({ commitment, round: byNonce.get(commitment.nonce) ?? null }))
    return { items: entries, nextCursor }
  }
}
