import { type Poll, startPoll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { PlayerStops } from '../actions/player-stops.ts'

const settleEveryMs = 500

/** Sees the rounds of stopped players to their end, on every replica at once. */
export function startStopSettler({
  settle,
  logger,
}: {
  settle: PlayerStops['settle']
  logger: Logger
}): Poll {
  return startPoll({ event: 'stops.failed', everyMs: settleEveryMs, work: settle, logger })
}
