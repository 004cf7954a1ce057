import { scopeOf } from '@pitboss/contracts/caller'
import type { Bus } from '@pitboss/bus/connect-bus'
import { showStakeStanding } from '@pitboss/contracts/calls/rounds'
import { stakeLifeMs } from '@pitboss/contracts/calls/wallet'
import { showLoggedStake } from '@pitboss/contracts/calls/webhooks'
import type { Doubt } from '@pitboss/contracts/objects/dossier'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { MovementDocument } from '../storage/movement-document.ts'

/** Whether it is known that a stake was taken, or that no success was published; else why it is in doubt. */
export type Standing = 'taken' | 'not-taken' | Doubt

/** Asks what others know of a stake; null when they cannot be asked now. */
export type AskStanding = (stake: MovementDocument, requestId: string) => Promise<Standing | null>

type Parts = { bus: Pick<Bus, 'call'>; clock: Clock; inDoubtBefore: Date | null; logger: Logger }

/**
 * Asks rounds about a stake. One that no living process would have left this long may come from a backup,
 * and rounds may have been set back with it: then the events are asked, too.
 * @param inDoubtBefore a stake made before it is in doubt unless rounds knows it as taken
 */
export function createAskStanding({ bus, clock, inDoubtBefore, logger }: Parts): AskStanding {
  return async function askStanding(stake, requestId) {
    const { roundId, transactionId, reference, createdAt } = stake
    const asked = { scope: scopeOf(stake), roundId, transactionId }
    try {
      const { standing } = await bus.call(showStakeStanding, asked, { requestId })
      if (standing === 'unknown') return 'no-round'
      if (standing === 'taken') return standing
      if (inDoubtBefore !== null && createdAt < inDoubtBefore) return 'events-missing'
      if (clock.now().getTime() - createdAt.getTime() <= stakeLifeMs) return standing
      const since = createdAt.toISOString()
      const logged = await bus.call(showLoggedStake, { ...asked, since }, { requestId })
      if (logged.standing === 'not-taken') return 'not-taken'
      return logged.standing === 'taken' ? 'taken-by-events' : 'events-missing'
    } catch (err) {
      if (!(err instanceof ServiceError)) throw err
      logger.warn({ err, reference }, 'stake.not-asked-about')
      return null
    }
  }
}
