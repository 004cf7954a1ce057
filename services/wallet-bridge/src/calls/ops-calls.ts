import {
  opsListMovements,
  opsMovementsOfRound,
  opsResolveMovement,
  opsShowMovement,
  opsWalletStatus,
} from '@pitboss/contracts/calls/wallet'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { Settlement } from '../actions/create-settlement.ts'
import { toAttemptRecord, toMovementRecord } from '../records/render-movement.ts'
import type { ResolveByPerson } from '../actions/resolve-by-person.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { MovementLists } from '../storage/movement-lists.ts'
import type { PendingMovements } from '../storage/pending-movements.ts'
import type { Wallets } from '../storage/wallet-document.ts'

const roundMovementsMax = 500
const walletPagesMax = 200

/** What the operations command asks. Source: contract section 10. */
export function opsCalls({
  lists,
  wallets,
  pending,
  settlement,
  resolveByPerson,
  clock,
  logger,
}: {
  lists: MovementLists
  wallets: Wallets
  pending: PendingMovements
  settlement: Pick<Settlement, 'breakers'>
  resolveByPerson: ResolveByPerson
  clock: Clock
  logger: Logger
}): CallHandler[] {
  return [
    handler(opsListMovements, async ({ status, olderThanS, limit }) => {
      const now = clock.now()
      const createdBefore = olderThanS === null ? null : new Date(now.getTime() - olderThanS * 1000)
      const found = await lists.overall({ status, createdBefore, limit })
      return { data: found.map((document) => toOpsMovement(document, now)) }
    }),
    handler(opsShowMovement, async ({ reference }) => {
      const document = await find(reference)
      return {
        movement: toOpsMovement(document, clock.now()),
        attempts: document.attempts.map(toAttemptRecord),
      }
    }),
    handler(opsResolveMovement, async ({ order, reference, as }) => {
      const resolved = await resolveByPerson(await find(reference), as, order.dryRun)
      logger.warn(
        { reference, as, by: order.by, reason: order.reason, dry_run: order.dryRun, status: resolved.status },
        'movement.resolved-by-person',
      )
      return toOpsMovement(resolved, clock.now())
    }),
    handler(opsMovementsOfRound, async ({ roundId }) => {
      const now = clock.now()
      const found = await lists.ofRound(roundId, roundMovementsMax)
      return {
        data: found.map((document) => ({
          movement: toOpsMovement(document, now),
          attempts: document.attempts.map(toAttemptRecord),
        })),
      }
    }),
    handler(opsWalletStatus, async () => {
      const figures = await pending.figures(clock.now())
      return {
        pending: figures.all,
        oldest_pending_at: figures.oldest?.createdAt.toISOString() ?? null,
        alarms: {
          over_5m: figures.over5m,
          over_1h: figures.over1h,
          over_24h: figures.over24h,
        },
        breakers_open: settlement.breakers.open(),
      }
    }),
  ]

  /** Looks through every wallet, page by page. @throws ServiceError TRANSACTION_NOT_FOUND */
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
}

function toOpsMovement(document: MovementDocument, now: Date) {
  return {
    ...toMovementRecord(document),
    operator_id: `op_${document.operatorId.replaceAll('-', '')}`,
    next_attempt_at: document.status === 'PENDING' ? (document.dueAt?.toISOString() ?? null) : null,
    age_s: Math.max(0, Math.floor((now.getTime() - document.createdAt.getTime()) / 1000)),
  }
}
