import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import type { Breakers } from '../clients/breakers.ts'
import type { MovementStatus } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { MovementLists } from '../storage/movement-lists.ts'
import type { PendingFigures, PendingMovements } from '../storage/pending-movements.ts'
import type { Wallets } from '../storage/wallet-document.ts'
import type { ResolveByPerson } from './resolve-by-person.ts'

/** The work of the operations command on movements, over every account. */
export type OperateMovements = {
  /** Oldest first. `olderThanS` is an age in seconds at `now`. */
  list(
    filters: { status: MovementStatus | null; olderThanS: number | null; limit: number },
    now: Date,
  ): Promise<MovementDocument[]>
  /** Finds a movement by its reference or transaction id. @throws ServiceError TRANSACTION_NOT_FOUND */
  find(reference: string): Promise<MovementDocument>
  /** The movements of a round, oldest first, at most 500. */
  ofRound(roundId: string): Promise<MovementDocument[]>
  /** Ends an owed movement by a person's order. @throws ServiceError TRANSACTION_NOT_FOUND, CONFLICT */
  resolve(order: ResolveOrder): Promise<MovementDocument>
  status(now: Date): Promise<{ readonly pending: PendingFigures; readonly breakersOpen: string[] }>
}

type ResolveOrder = {
  readonly reference: string
  readonly as: 'success' | 'failed'
  readonly by: string
  readonly reason: string | null
  readonly dryRun: boolean
}

const roundMovementsMax = 500
const walletPagesMax = 200

/** Works on movements for the operations command. Source: docs/contract.md, section 10. */
export function createOperateMovements({
  lists,
  wallets,
  pending,
  breakers,
  resolveByPerson,
  logger,
}: {
  lists: MovementLists
  wallets: Wallets
  pending: PendingMovements
  breakers: Pick<Breakers, 'open'>
  resolveByPerson: ResolveByPerson
  logger: Logger
}): OperateMovements {
  /** Looks through the movements of every wallet, a page of wallets at a time. */
  async function find(reference: string): Promise<MovementDocument> {
    let after = ''
    for (let page = 1; page <= walletPagesMax; page++) {
      const keys = await wallets.keysAfter(after)
      const last = keys.at(-1)
      if (last === undefined) break
      const found = await lists.byReference(reference, keys)
      if (found !== null) return found
      after = last
    }
    throw new ServiceError('TRANSACTION_NOT_FOUND')
  }

  return {
    find,
    list({ status, olderThanS, limit }, now) {
      const createdBefore = olderThanS === null ? null : new Date(now.getTime() - olderThanS * 1000)
      return lists.overall({ status, createdBefore, limit })
    },
    ofRound: (roundId) => lists.ofRound(roundId, roundMovementsMax),
    async resolve({ reference, as, by, reason, dryRun }) {
      const resolved = await resolveByPerson(await find(reference), as, dryRun)
      logger.warn(
        { reference, as, by, reason, dry_run: dryRun, status: resolved.status },
        'movement.resolved-by-person',
      )
      return resolved
    },
    status: async (now) => ({ pending: await pending.figures(now), breakersOpen: breakers.open() }),
  }
}
