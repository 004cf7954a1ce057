import { z } from 'zod'
import type { CertainMovement } from './calls/wallet-ops.ts'
import { eventDataSchemas } from './objects/event.ts'

type ToldMovement = CertainMovement & { readonly told: { readonly reference: string; readonly at: string } }

const winEvent = z.object({
  type: z.literal('transaction.win'),
  created_at: z.iso.datetime(),
  data: eventDataSchemas['transaction.win'],
})

/** The hash of every win of a round that we play. */
export const winRequestHash = 'settlement'

/**
 * The win of a game round as its event tells it, for writing it again: asked for anew, it would have another
 * reference, and a wallet that paid it once may refuse that as another movement. Null for another event.
 * @param game of the round
 */
export function toldWin(event: unknown, game: string): ToldMovement | null {
  const read = winEvent.safeParse(event).data
  if (read === undefined) return null
  const { data, created_at: at } = read
  const spec = {
    transactionId: data.transaction_id,
    type: 'WIN',
    amount: data.amount,
    currency: data.currency,
    playerId: data.player_id,
    sessionId: data.session_id,
    roundId: data.round_id,
    walletRoundId: data.wallet_round_id,
    walletGameId: data.wallet_game_id,
    game,
    // An event does not tell it.
    brandId: null,
    freeBet: data.free_bet,
    roundClosed: true,
    driver: 'game',
    referenceTransactionId: null,
    callWallet: null,
    requestHash: winRequestHash,
  } as const
  return { spec, end: 'SUCCESS', code: null, told: { reference: data.reference, at } }
}
