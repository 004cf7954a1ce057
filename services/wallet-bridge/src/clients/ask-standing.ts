import type { Bus } from '@pitboss/bus/connect-bus'
import { showStakeStanding } from '@pitboss/contracts/calls/rounds'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import type { AskStanding } from '../actions/end-budget.ts'
import { scopeOf } from '../rules/movement-keys.ts'

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
