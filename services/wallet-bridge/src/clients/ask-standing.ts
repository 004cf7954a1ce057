import type { Bus } from '@pitboss/bus/connect-bus'
import { showStakeStanding, type StakeStanding } from '@pitboss/contracts/calls/rounds'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import { scopeOf } from '../rules/movement-keys.ts'
import type { MovementDocument } from '../storage/movements.ts'

/** Asks rounds what it knows of a stake; null when it cannot be asked now. */
export type AskStanding = (stake: MovementDocument, requestId: string) => Promise<StakeStanding | null>

/** Creates the question to rounds about a stake. */
export function createAskStanding({ bus, logger }: { bus: Pick<Bus, 'call'>; logger: Logger }): AskStanding {
  return async function askStanding(stake, requestId) {
    const { roundId, transactionId, reference } = stake
    try {
      const asked = { scope: scopeOf(stake), roundId, transactionId }
      return (await bus.call(showStakeStanding, asked, { requestId })).standing
    } catch (err) {
      if (!(err instanceof ServiceError)) throw err
      logger.warn({ err, reference }, 'stake.not-asked-about')
      return null
    }
  }
}
