import { instant, serviceConfig, whole } from '@pitboss/runtime/load-config'
import { z } from 'zod'
import { usualYield } from './actions/admit-play.ts'

/** The environment of the rounds service; nothing else here reads it. Source: docs/contract.md, section 9. */
export const roundsConfig = z.object({
  ...serviceConfig,
  /** Until then no open round counts as left by its player: for the time after a restore. */
  PITBOSS_ROUNDS_LEFT_FROM: instant,
  /** What an alarm of the watch of returns does by itself. */
  PITBOSS_RETURNS_ALARM: z.enum(['take-down', 'tell'], 'must be take-down or tell').default('take-down'),
  /** Lateness of new events, in seconds, from which on a share of new play is refused. */
  PITBOSS_PLAY_YIELDS_FROM_S: whole(1, 3600).default(usualYield.fromMs / 1000),
  /** Seconds of lateness from which on all new play is. */
  PITBOSS_PLAY_STOPS_FROM_S: whole(1, 3600).default(usualYield.allMs / 1000),
})

export type RoundsConfig = z.output<typeof roundsConfig>
