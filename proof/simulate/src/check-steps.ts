import type { LedgerEntry } from '@pitboss/operator-kit/sandbox-wallet/ledger'
import type { RoundState } from '@pitboss/rounds/rules/round'
import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import { movementIdOf } from '@pitboss/wallet-bridge/rules/movement-keys'
import type { MovementDocument } from '@pitboss/wallet-bridge/storage/movement-document'
import { z } from 'zod'
import { canEnd } from '@pitboss/chaos/check/can-end'
import { longestWaitMs } from '@pitboss/chaos/check/ladder'
import { scope, type World } from './world.ts'

/** A promise that did not hold at one step. */
export class BrokenInvariant extends Error {
  readonly promise: string

  constructor(promise: string, what: string) {
    super(`${promise}: ${what}`)
    this.promise = promise
  }
}

const movementSteps: Readonly<Record<MovementDocument['status'], readonly string[]>> = {
  PENDING: ['PENDING', 'SUCCESS', 'FAILED', 'ROLLED_BACK'],
  SUCCESS: ['SUCCESS', 'REFUNDED', 'ROLLED_BACK'],
  FAILED: ['FAILED'],
  REFUNDED: ['REFUNDED'],
  ROLLED_BACK: ['ROLLED_BACK'],
}

/**
 * the table of docs/contract.md, section 4, with what may happen in one write; only an operator's final win
 * that was never placed takes a step back.
 */
const roundSteps: Readonly<Record<RoundState['status'], readonly string[]>> = {
  PENDING: ['PENDING', 'OPEN', 'SETTLING', 'SETTLED', 'VOIDED', 'FAILED'],
  OPEN: ['OPEN', 'SETTLING', 'SETTLED', 'VOIDED'],
  SETTLING: ['SETTLING', 'SETTLED', 'OPEN'],
  SETTLED: ['SETTLED'],
  VOIDED: ['VOIDED'],
  FAILED: ['FAILED'],
}

const stakeOfGame = /^bet_[0-9a-hjkmnp-tv-z]{26}$/

const eventData = z.object({
  type: z.string(),
  data: z.looseObject({
    ...{ transaction_id: z.string().optional(), round_id: z.string().optional() },
    session_id: z.string().optional(),
  }),
})

export type StepChecks = {
  movementWritten(before: MovementDocument | null, after: MovementDocument): void
  roundWritten(before: RoundState | null, after: RoundState): void
  /** A process has written a round, and looks at it at a time. */
  roundKept(round: RoundState, dueAt: Date | null): void
  walletMoved(entry: LedgerEntry): void
  eventRecorded(entry: RenderedEvent): void
  /** A call is sent for this round; the function that is returned ends it. */
  callSent(roundId: string, isHolderAlive: () => boolean): () => void
}

/**
 * The promises that hold at every single step, in the middle of any trouble.
 * @param asked ids of the movements that the operator asked for
 * @throws BrokenInvariant
 */
export function createStepChecks(
  world: () => Pick<
    World,
    'movements' | 'rounds' | 'sessions' | 'wallet' | 'timeline' | 'scaleMs' | 'faults'
  >,
  asked: ReadonlySet<string>,
): StepChecks {
  const told = new Set<string>()
  const inFlight = new Map<string, Set<{ isHolderAlive: () => boolean }>>()

  const holds = (name: string, is: boolean, what: () => string) => {
    if (!is) throw new BrokenInvariant(name, what())
  }
  const isSetBack = () => ['movements', 'both'].includes(world().faults.restore ?? '')
  const movementOf = (id: string) => world().movements.table.get(movementIdOf(scope, id))
  const standsAtWallet = (id: string) => {
    const { ledger } = world().wallet
    return ledger.byTransactionId.has(id) && !ledger.rollbackOf.has(id)
  }
  /** The wallet has taken it back for a rollback that was lost with movements that were set back. */
  const isTakenBackUnknown = (id: string) => {
    const rollback = world().wallet.ledger.rollbackOf.get(id)
    return isSetBack() && rollback !== undefined && movementOf(rollback.transactionId) === undefined
  }

  /**
   * No breaker, hint or replica moves a try further away than the retry schedule of docs/contract.md, section
   * 5 says for the movement's age.
   */
  const holdsToLadder = (after: MovementDocument, show: () => string) => {
    const { type, status, call, dueAt, createdAt } = after
    if (type === 'BET' || status !== 'PENDING' || call !== null || dueAt === null) return
    const { timeline, scaleMs, faults } = world()
    // Created by one clock, due by another.
    const slackMs = 2 * faults.clockOffMs
    const ageMs = timeline.nowMs() - createdAt.getTime() + slackMs
    const mostMs = longestWaitMs(ageMs, scaleMs) + slackMs
    const waitMs = dueAt.getTime() - timeline.nowMs()
    holds(
      'the next try is never further away than the ladder says for the age',
      waitMs <= mostMs,
      () => `${show()} at ${ageMs} ms waits ${waitMs} ms, at most ${mostMs} ms (try ${after.tries})`,
    )
  }

  return {
    movementWritten(before, after) {
      const { transactionId: id, type, status, reversal } = after
      const show = () => `${type} ${id} ${before?.status ?? 'new'} → ${status}`
      if (before !== null) {
        holds('a movement takes legal steps', movementSteps[before.status].includes(status), show)
        holds('the bytes of a movement never change', before.body === after.body, show)
      }
      holdsToLadder(after, show)
      if (before?.status === status) return
      const moves = after.operation !== null
      if (status === 'SUCCESS' && type !== 'ROLLBACK' && reversal === null) {
        const stands = standsAtWallet(id) || isTakenBackUnknown(id)
        holds('SUCCESS here is one effect that stands at the wallet', !moves || stands, show)
      }
      // What was refused in a word of the wallet's own may stand until its rollback.
      const isUnclear = status === 'FAILED' && reversal?.ofRefused === true
      if (status === 'FAILED' && !isUnclear) {
        holds('what was refused has no effect', !standsAtWallet(id), show)
      }
      if (after.ofRefused === true && status === 'SUCCESS') {
        const original = after.referenceTransactionId ?? ''
        holds('a rollback leaves nothing of a refused stake', !standsAtWallet(original), show)
      }
      if (status === 'ROLLED_BACK') holds('what was rolled back has no effect', !standsAtWallet(id), show)
      if (type === 'ROLLBACK' && before === null) {
        const original = movementOf(after.referenceTransactionId ?? '')
        holds(
          'the service itself rolls back stakes alone',
          original?.type === 'BET' || asked.has(id),
          () => `${show()} of ${original?.type}`,
        )
      }
    },
    roundKept(round, dueAt) {
      holds(
        'an unfinished round is due, or somebody can end it',
        canEnd(round, dueAt),
        () => `${round.id} ${round.status}, due ${dueAt?.toISOString()}: ${partsOf(round)}`,
      )
    },
    roundWritten(before, after) {
      const show = () => `${after.id} ${before?.status ?? 'new'} → ${after.status}`
      const [stake] = after.driver === 'game' ? after.stakes : []
      const isOurs = stake === undefined || stakeOfGame.test(stake.transactionId)
      holds("no page's id is that of a movement", isOurs, () => `${show()}: ${stake?.transactionId}`)
      if (before === null) return
      const back = before.status === 'SETTLING' && after.status === 'OPEN'
      const legal = roundSteps[before.status].includes(after.status) && (!back || after.driver === 'operator')
      holds('a round takes legal steps', legal, show)
      const isBeyond = after.driver === 'game' && (after.payout ?? 0n) > after.maxPayout
      holds(
        'a round of a game pays at most its greatest payout',
        !isBeyond,
        () => `${show()} ${after.payout}`,
      )
      if (before.driver === 'game' && before.outcome !== null) {
        const same =
          JSON.stringify(before.outcome) === JSON.stringify(after.outcome) && before.payout === after.payout
        holds('an outcome is drawn once', same, show)
      }
    },
    walletMoved(entry) {
      const { operation, transactionId: id, referenceTransactionId } = entry
      if (operation === 'adjustment') return
      const movement = movementOf(id)
      const show = () => `${operation} ${id}, here ${movement?.type} ${movement?.status}`
      const known = movement !== undefined && movement.operation === operation
      // A call that was sent before the movements were set back may arrive after it.
      if (movement === undefined && isSetBack()) return
      holds('the wallet moves nothing that is not a movement here', known, show)
      if (operation === 'rollback') {
        const original = movementOf(referenceTransactionId ?? '')
        holds('only stakes are rolled back unasked', original?.type === 'BET' || asked.has(id), show)
        return
      }
      const isUnclear = movement?.status === 'FAILED' && movement.reversal?.ofRefused === true
      holds(
        'nothing lands after its end',
        movement?.status === 'PENDING' || movement?.status === 'SUCCESS' || isUnclear,
        show,
      )
      if (movement?.type !== 'WIN' || movement.freeBet) return
      const stakes = [...world().movements.table.values()].filter(
        (one) => one.roundId === movement.roundId && one.type === 'BET',
      )
      // The stake itself may be lost with movements that were set back.
      const lost = stakes.length === 0 && isSetBack()
      const taken =
        lost ||
        stakes.some(({ status, transactionId }) => status === 'SUCCESS' && standsAtWallet(transactionId))
      const pending = movement.roundClosed && stakes.some(({ status }) => status === 'PENDING')
      holds('no credit while its stake is pending', taken && !pending, show)
    },
    eventRecorded({ id, body }) {
      const { type, data } = eventData.parse(JSON.parse(body))
      const { transaction_id, round_id, session_id = '' } = data
      const fact = `${type} ${transaction_id ?? round_id ?? session_id}`
      holds('each fact is told once', !told.has(fact), () => `${fact} again, as ${id}`)
      told.add(fact)
      if (type === 'game.session.created')
        holds('no event is ahead of its session', world().sessions.table.has(session_id), () => fact)
      if (data.transaction_id === undefined) return
      const status = movementOf(data.transaction_id)?.status
      holds(
        'no event is ahead of its movement',
        status !== undefined && status !== 'PENDING',
        () => `${fact} while ${status}`,
      )
    },
    callSent(roundId, isHolderAlive) {
      const own = inFlight.get(roundId) ?? new Set()
      inFlight.set(roundId, own)
      const others = [...own].filter((call) => call.isHolderAlive())
      holds('one wallet call in flight per round', others.length === 0, () => roundId)
      const call = { isHolderAlive }
      own.add(call)
      return () => own.delete(call)
    },
  }
}

function partsOf({ stakes, wins, reversals }: RoundState): string {
  return [...stakes, ...wins, ...reversals]
    .map(({ transactionId, state }) => `${transactionId} ${state}`)
    .join(', ')
}
