import type { Logger } from 'pino'
import type { WalletClient } from '../clients/wallet-client.ts'
import type { DueMovements } from '../storage/due-movements.ts'
import type { Wallets } from '../storage/wallet-document.ts'
import { type AdvanceDue, createAdvanceDue } from './advance-due.ts'
import { type ApplyDeps, type ApplyMessage, createApplyMessage } from './apply-message.ts'
import { createAwaitFirstTry } from './await-first-try.ts'
import { type BreakerNote, type Breakers, createBreakers } from '../clients/breakers.ts'
import { createPlaceMovement, type PlaceMovement } from './place-movement.ts'
import { createRunCall } from './run-call.ts'
import { createVoidStake, type VoidStake } from './void-stake.ts'
import type { WalletMetrics } from '../metrics.ts'

/** Everything that moves a movement on. */
export type Settlement = {
  readonly apply: ApplyMessage
  readonly advance: AdvanceDue
  readonly breakers: Breakers
  readonly placeMovement: PlaceMovement
  readonly voidStake: VoidStake
}

export function createSettlement({
  client,
  wallets,
  due,
  metrics,
  logger,
  wake,
  tellBreakers = () => undefined,
  wrapApply = (apply) => apply,
  ...deps
}: ApplyDeps & {
  client: WalletClient
  wallets: Wallets
  due: DueMovements
  metrics: WalletMetrics
  logger: Logger
  /** Tells every resolver that something became due. */
  wake: () => void
  /** Tells the other processes about a wallet. */
  tellBreakers?: (note: BreakerNote) => void
  /** Puts something around what judges; the product leaves it as it is. */
  wrapApply?: (apply: ApplyMessage) => ApplyMessage
}): Settlement {
  const { clock, scaleMs } = deps
  const breakers = createBreakers({
    scaleMs,
    nowMs: () => clock.now().getTime(),
    tell: tellBreakers,
    onOpened: (walletKey) => logger.warn({ wallet: walletKey }, 'breaker.opened'),
    onClosed,
  })
  const apply = wrapApply(createApplyMessage(deps))
  const runCall = createRunCall({ ...deps, client, apply, breakers, metrics, logger })
  const advance = createAdvanceDue({ ...deps, apply, runCall, wallets })
  const awaitFirstTry = createAwaitFirstTry({ ...deps, advance })
  const placing = { ...deps, apply, advance, awaitFirstTry, breakers, wallets }

  /** The wallet answers again: what waits for its next try need not wait. */
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
