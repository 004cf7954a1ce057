import { failpoint } from '@pitboss/runtime/failpoint'
import type { Mailbox } from '@pitboss/runtime/mailbox'
import { setTimeout as delay } from 'node:timers/promises'
import type { Breakers } from '../clients/breakers.ts'
import { nextAction } from '../rules/advance-movement.ts'
import { scopeOf } from '../rules/movement-keys.ts'
import { hasAnswer } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { DueMovements } from '../storage/unfinished-movements.ts'
import type { Wallets } from '../storage/wallet-document.ts'
import type { ApplyDeps, ApplyMessage } from './apply-message.ts'
import type { BeginReversal } from './begin-reversal.ts'
import type { EndBudget } from './end-budget.ts'
import { beginCall, lostAttemptOf, type RunCall } from './run-call.ts'
import { traceAdvance } from './trace-wallet-call.ts'

/**
 * The movement after its due actions. `busy`: another call of its round is in flight, so its call was not
 * begun.
 */
type Advanced = { readonly kind: 'advanced' | 'busy'; readonly document: MovementDocument }

export type AdvanceDue = {
  /** The first wallet after `after`, by key, that has a movement due now; null when there is none. */
  nextWallet(after: string): Promise<string | null>
  /** The movements of a wallet that are due now, longest due first. */
  ofWallet(walletKey: string, limit: number): Promise<MovementDocument[]>
  /** Tells whether the wallet's breaker is open: it does not answer. */
  isSilent(walletKey: string): boolean
  /** Tells whether a further try of a stake is next; its rollback, and what leads to it, is owed. */
  isStake(document: MovementDocument): boolean
  /**
   * Does the next actions on a movement: calls the wallet, gives up a lost call, ends a spent budget, begins
   * a reversal that is owed. A process works on a movement one at a time; between processes the append
   * decides.
   */
  advance(document: MovementDocument, requestId: string): Promise<Advanced>
}

const stepsMax = 6
/** More movements than a round has. */
const roundMovementsMax = 500

/** Takes movements further without a caller: the resolver's work. Source: docs/contract.md, section 5. */
export function createAdvanceDue({
  apply,
  beginReversal,
  runCall,
  endBudget,
  inTurn,
  movements,
  due,
  wallets,
  breakers,
  clock,
  scaleMs,
  newId,
}: ApplyDeps & {
  apply: ApplyMessage
  beginReversal: BeginReversal
  runCall: RunCall
  endBudget: EndBudget
  inTurn: Mailbox
  due: DueMovements
  wallets: Wallets
  breakers: Pick<Breakers, 'isOpen'>
}): AdvanceDue {
  async function advanceNow(given: MovementDocument, requestId: string): Promise<Advanced> {
    let document = given
    for (let step = 1; step <= stepsMax; step++) {
      const at = clock.now()
      const action = nextAction(document, at, scaleMs)
      if (action === 'wait') break
      if (action === 'call') {
        const called = await call(document, at, requestId)
        document = called.document
        if (called.kind === 'busy') return called
      } else if (action === 'call-lost') {
        document = await giveUpCall(document)
      } else if (action === 'budget-spent') {
        document = await endBudget(document, requestId)
      } else {
        const begun = await beginReversal(document, null)
        if (begun.kind !== 'refused') document = begun.original
        await failpoint('wallet.reversal-begun')
      }
    }
    return { kind: 'advanced', document }
  }

  /**
   * Begins a call by an entry and runs it. The first call of a movement is begun by its insert in
   * place-movement.ts.
   */
  async function call(document: MovementDocument, at: Date, requestId: string): Promise<Advanced> {
    const wallet = await wallets.open(scopeOf(document))
    if (wallet === null) throw new Error(`the wallet of ${document.walletKey} is gone`)
    const begun = await apply(document, beginCall(wallet, at, newId))
    if (begun.kind === 'round-busy') {
      await freeRound(document)
      return { kind: 'busy', document: begun.document }
    }
    if (begun.kind !== 'applied') return { kind: 'busy', document: begun.document }
    await failpoint(`wallet.${document.operation ?? 'no'}-call-begun`)
    return { kind: 'advanced', document: await runCall(begun.document, wallet, requestId) }
  }

  /** Gives up the call that is in flight in the round when its time has passed. */
  async function freeRound(document: MovementDocument): Promise<void> {
    const round = await movements.ofRound(scopeOf(document), document.roundId, roundMovementsMax)
    const calling = round.find(({ call }) => call !== null)
    if (calling !== undefined && nextAction(calling, clock.now(), scaleMs) === 'call-lost')
      await giveUpCall(calling)
  }

  async function giveUpCall(document: MovementDocument): Promise<MovementDocument> {
    const message = { kind: 'call-lost', at: clock.now() } as const
    const lost = await apply(document, message, (nextAt) => lostAttemptOf(document, nextAt))
    return lost.document
  }

  return {
    nextWallet: (after) => due.nextWallet(after, clock.now()),
    ofWallet: (walletKey, limit) => due.ofWallet(walletKey, clock.now(), limit),
    isSilent: breakers.isOpen,
    isStake: (document) =>
      document.operation === 'debit' && nextAction(document, clock.now(), scaleMs) === 'call',
    advance: (document, requestId) =>
      traceAdvance(document, requestId, () => inTurn(document._id, () => advanceNow(document, requestId))),
  }
}

const pollFirstMs = 10
const pollLastMs = 200

export type AwaitFirstTry = (
  document: MovementDocument,
  until: { requestId: string; deadlineAtMs: number },
) => Promise<MovementDocument>

/**
 * Waits for the end of a movement's first try, which this or another process makes; makes it when none does.
 * @returns the movement; past the deadline as it is then, and the resolver goes on with it
 */
export function createAwaitFirstTry({
  advance,
  movements,
  clock,
  wait = (ms) => delay(ms, null, { ref: false }),
}: Pick<ApplyDeps, 'movements' | 'clock' | 'wait'> & { advance: AdvanceDue }): AwaitFirstTry {
  return async function awaitFirstTry(given, { requestId, deadlineAtMs }) {
    let document = given
    let pollMs = pollFirstMs
    while (!hasAnswer(document)) {
      const leftMs = deadlineAtMs - clock.now().getTime()
      if (leftMs <= 0) break
      const work = advance.advance(document, requestId)
      const ended = await Promise.race([work, wait(leftMs).then(() => null)])
      if (ended === null) {
        // The work goes on; should it fail, the resolver finds the movement due.
        work.catch(() => undefined)
        break
      }
      document = (await movements.findById(document._id)) ?? ended.document
      if (hasAnswer(document)) break
      await wait(Math.min(pollMs, Math.max(1, leftMs)))
      pollMs = Math.min(pollMs * 2, pollLastMs)
    }
    return document
  }
}
