import { z } from 'zod'
import {
  amount,
  currency,
  eventEnvironment,
  gameSlug,
  givenInstant,
  instant,
  noteText,
  playerId,
  roundId,
  sessionId,
  stopId,
} from '../primitives.ts'

/** Stops of players. Source: docs/contract.md, section 4, "Stops". */

const reasonCharactersMax = 500
const reason = z.string().min(1).max(reasonCharactersMax)
const newReason = noteText(reasonCharactersMax).min(1)

export const stopCreateSchema = z.strictObject({ reason: newReason, until: givenInstant.optional() })
export const stopLiftSchema = z.strictObject({ reason: newReason })

export const stopStatus = z.enum(['IN_FORCE', 'OVER', 'LIFTED'])

/** The last taken stake or used free bet. Null before `rounds_ended_at`, and for none. */
const lastBet = z
  .strictObject({
    round_id: roundId,
    session_id: sessionId,
    game: gameSlug,
    stake: amount,
    currency,
    at: instant,
  })
  .nullable()

/** What the signed record of a stop says: the stop as it stood once its rounds had ended. */
export const stopRecordSchema = z.strictObject({
  stop_id: stopId,
  operator_id: z.uuid(),
  environment: eventEnvironment,
  player_id: playerId,
  reason,
  from: instant,
  until: instant.nullable(),
  lifted_at: instant.nullable(),
  rounds_ended_at: instant,
  last_bet: lastBet,
})
export type StopRecord = z.infer<typeof stopRecordSchema>

export const stopSchema = z.strictObject({
  stop_id: stopId,
  status: stopStatus,
  player_id: playerId,
  environment: eventEnvironment,
  reason,
  from: instant,
  /** Null for a stop that holds until it is lifted. */
  until: instant.nullable(),
  lifted_at: instant.nullable(),
  lift_reason: reason.nullable(),
  /** When no round that the service drives was left open; null before. */
  rounds_ended_at: instant.nullable(),
  last_bet: lastBet,
  /** The signed record, a compact JWS. Null until it is signed. */
  record: z.string().nullable(),
})
export type PlayerStop = z.infer<typeof stopSchema>
