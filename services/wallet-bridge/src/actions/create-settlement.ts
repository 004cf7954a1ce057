import { createMailbox } from '@pitboss/runtime/mailbox'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { Logger } from 'pino'
import { type BreakerNote, type Breakers, createBreakers } from '../clients/breakers.ts'
import type { WalletClient } from '../clients/wallet-client.ts'
import type { DueMovements } from '../storage/unfinished-movements.ts'
import type { Wallets } from '../storage/wallet-document.ts'
import { type AdvanceDue, createAdvanceDue, createAwaitFirstTry } from './advance-due.ts'
import { type ApplyDeps, type ApplyMessage, createApplyMessage } from './apply-message.ts'
import { createBeginReversal } from './begin-reversal.ts'
import type { AskStanding } from '../clients/ask-standing.ts'
import { createEndBudget } from './end-budget.ts'
import { createPlaceMovement, type PlaceMovement } from './place-movement.ts'
import { createVoidStake, type VoidStake } from './place-reversal.ts'
import { type CallMetrics, createRunCall } from './run-call.ts'

/** The actions that move a movement on, and the breakers that hold back its stakes. */
export type Settlement = {
  readonly apply: ApplyMessage
  readonly advance: AdvanceDue
  readonly breakers: Breakers
  readonly placeMovement: PlaceMovement
  readonly voidStake: VoidStake
}

/** Wires the actions of settlement to each other. */
export function createSettlement({
  client,
  wallets,
  due,
  askStanding,
  audit,
  metrics,
  logger,
  wake,
  notifyBreakers = () => undefined,
  wrapApply = (apply) => apply,
  ...deps
}: ApplyDeps & {
  client: WalletClient
  wallets: Wallets
  due: DueMovements
  askStanding: AskStanding
  audit: Pick<AuditOutbox, 'entry'>
  metrics: CallMetrics
  logger: Logger
  /** Wakes the resolver of every replica. */
  wake: () => void
  /** Sends the other processes a note about a wallet. */
  notifyBreakers?: (note: BreakerNote) => void
  /** Puts something around what judges; the product leaves it as it is. */
  wrapApply?: (apply: ApplyMessage) => ApplyMessage
}): Settlement {
  const { clock, scaleMs } = deps
  const breakers = createBreakers({
    scaleMs,
    nowMs: () => clock.now().getTime(),
    notify: notifyBreakers,
    onOpened: (walletKey) => logger.warn({ wallet: walletKey }, 'breaker.opened'),
    onClosed,
  })
  const apply = wrapApply(createApplyMessage(deps))
  const runCall = createRunCall({ ...deps, client, apply, breakers, metrics, logger })
  const beginReversal = createBeginReversal({ ...deps, apply })
  const inTurn = createMailbox()
  const endBudget = createEndBudget({ ...deps, apply, askStanding, audit, logger })
  const calling = { ...deps, apply, beginReversal, runCall, inTurn, wallets, breakers }
  const advance = createAdvanceDue({ ...calling, endBudget, due })
  const awaitFirstTry = createAwaitFirstTry({ ...deps, advance })
  const placing = { ...calling, advance, awaitFirstTry }

  /** Makes waiting credits and rollbacks due at once: the wallet answers again. */
  function onClosed(walletKey: string): void {
    logger.info({ wallet: walletKey }, 'breaker.closed')
    due.pullForward(walletKey, clock.now()).then(wake, (err: unknown) => {
      logger.warn({ err, wallet: walletKey }, 'backlog.not-pulled-forward')
    })
  }

  return {
    apply,
    advance,
    breakers,
    placeMovement: createPlaceMovement(placing),
    voidStake: createVoidStake(placing),
  }
}
