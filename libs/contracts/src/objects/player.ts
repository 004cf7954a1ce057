import { z } from 'zod'
import { count, eventEnvironment, nonce, playerId, roundId } from '../primitives.ts'
import { reportSchema } from './report.ts'
import { roundSchema } from './round.ts'

/** A player as the operator's people see one. Source: docs/contract.md, section 3, "Player". */

/** Most rounds that the sums of a player count, newest first. */
export const playerRoundsMax = 1000
/** The number at which `active_sessions` stops. */
export const activeSessionsMax = 100

export const playerSchema = z.strictObject({
  player_id: playerId,
  environment: eventEnvironment,
  last_session_at: z.string().nullable(),
  active_sessions: z.int().min(0).max(activeSessionsMax),
  /** Free bets left in the grants that can be used now. */
  free_bets: count,
  /** The games in which a nonce was used. */
  games: z.array(
    z.strictObject({
      game: z.string(),
      last_nonce: count,
      last_round_at: z.string().nullable(),
      unfinished_round: roundId.nullable(),
    }),
  ),
  from: z.string(),
  to: z.string(),
  play: z.array(
    reportSchema.shape.data.element.pick({
      ...{ currency: true, rounds: true, stakes: true, payouts: true, refunds: true, ggr: true },
    }),
  ),
  /** False when the window has more rounds than `play` counts. */
  complete: z.boolean(),
})
export type Player = z.infer<typeof playerSchema>

/** A nonce of one player's game, with what belongs to it. Source: docs/contract.md, section 3, "Book". */
export const nonceSchema = z.strictObject({
  nonce,
  /**
   * `PLAYED`: it has its round. `SHOWN`: committed to, and no bet yet. `SKIPPED`: its round was lost with a
   * database and its place is held. `MISSING`: neither a round nor a place, although a later nonce was used.
   */
  state: z.enum(['PLAYED', 'SHOWN', 'SKIPPED', 'MISSING']),
  /** As stored before the hash was shown; null when there is no record of it. */
  commitment: z.strictObject({ server_seed_hash: z.string(), committed_at: z.string() }).nullable(),
  round: roundSchema.nullable(),
})
export type Nonce = z.infer<typeof nonceSchema>
