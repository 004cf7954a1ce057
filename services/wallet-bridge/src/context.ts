import type { AskApproval } from '@pitboss/bus/ask-approval'
import type { Bus } from '@pitboss/bus/connect-bus'
import type { OutboundSettings } from '@pitboss/outbound/address-guard'
import { type Mailbox, createMailbox } from '@pitboss/runtime/mailbox'
import type { Clock } from '@pitboss/runtime/clock'
import { createPlaces, type Places } from '@pitboss/runtime/places'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { CursorCodec } from '@pitboss/storage/cursor'
import type { FiguresStore } from '@pitboss/storage/figures-store'
import type { Logger } from 'pino'
import { setTimeout as delay } from 'node:timers/promises'
import type { AskStanding } from './clients/ask-standing.ts'
import { type BreakerNote, type Breakers, createBreakers } from './clients/breakers.ts'
import type { WalletClient } from './clients/wallet-client.ts'
import type { WalletMetrics } from './metrics.ts'
import { advanceMovement } from './rules/advance-movement.ts'
import type { MovementMessage, MovementState, MovementStep } from './rules/movement.ts'
import type { ScaleMs } from './rules/retry-schedule.ts'
import type { MovementDocument } from './storage/movement-document.ts'
import type { MovementLists } from './storage/movement-lists.ts'
import type { MovementStore } from './storage/movement-store.ts'
import type { DueMovements } from './storage/unfinished-movements.ts'
import type { CallbackSignatures, Wallets } from './storage/wallet-document.ts'

const stakesPerWalletMax = 256

export type MovementRules = (state: MovementState, message: MovementMessage) => MovementStep

/** What the actions of settlement work with: the first argument of each. */
export type Settlement = {
  readonly movements: MovementStore
  readonly wallets: Wallets
  readonly due: DueMovements
  readonly client: WalletClient
  readonly breakers: Breakers
  readonly askStanding: AskStanding
  readonly audit: Pick<AuditOutbox, 'entry'>
  readonly metrics: Pick<WalletMetrics, 'callEnded' | 'repeatedAtFirstTry'>
  /** Notifies who follows the account of a wallet call that ended, or of a new status. */
  readonly notify: (movement: MovementDocument) => void
  readonly rules: MovementRules
  readonly clock: Clock
  readonly scaleMs: ScaleMs
  readonly newId: (prefix: string) => string
  readonly wait: (ms: number) => Promise<unknown>
  readonly logger: Logger
  /** Runs the work on one movement one at a time in this process. */
  readonly inTurn: Mailbox
  /** Places of the stakes of this process that wait for one wallet. */
  readonly stakePlaces: Places
}

export type WalletContext = Settlement & {
  readonly metrics: WalletMetrics
  readonly bus: Pick<Bus, 'call'>
  readonly lists: MovementLists
  readonly signatures: CallbackSignatures
  readonly figures: FiguresStore
  readonly cursors: CursorCodec
  readonly outbound: OutboundSettings
  readonly askApproval: AskApproval
  /** Places of the callers who wait for one wallet's balance. */
  readonly balancePlaces: Places
  /** Has the movements that are due taken at once, by every replica. */
  readonly wake: () => void
}

type MemoryKey = 'breakers' | 'notify' | 'rules' | 'wait' | 'inTurn' | 'stakePlaces'
type Options = Partial<Pick<Settlement, 'notify' | 'wait'>> & {
  /** Puts something around the rules; the product leaves them as they are. */
  readonly wrapRules?: (rules: MovementRules) => MovementRules
  readonly wake: () => void
  readonly notifyBreakers?: (note: BreakerNote) => void
}

/** Opens the memory of settlement in this process: breakers, and what is at work. */
export function openSettlement(parts: Omit<Settlement, MemoryKey> & Options): Settlement {
  const { wrapRules = (rules) => rules, wake, notifyBreakers = () => undefined, ...given } = parts
  const { clock, scaleMs, due, logger } = given

  /** Makes waiting credits and rollbacks due at once: the wallet answers again. */
  function onClosed(walletKey: string): void {
    logger.info({ wallet: walletKey }, 'breaker.closed')
    due.pullForward(walletKey, clock.now()).then(wake, (err: unknown) => {
      logger.warn({ err, wallet: walletKey }, 'backlog.not-pulled-forward')
    })
  }

  return {
    notify: () => undefined,
    wait: (ms) => delay(ms, null, { ref: false }),
    ...given,
    rules: wrapRules((state, message) => advanceMovement(state, message, scaleMs)),
    breakers: createBreakers({
      ...{ scaleMs, nowMs: () => clock.now().getTime(), notify: notifyBreakers },
      onOpened: (walletKey) => logger.warn({ wallet: walletKey }, 'breaker.opened'),
      onClosed,
    }),
    inTurn: createMailbox(),
    stakePlaces: createPlaces(stakesPerWalletMax),
  }
}
