import { failpoint } from '@pitboss/runtime/failpoint'
import { nextAction } from '../rules/advance-movement.ts'
import { callingRoundOf, scopeOf } from '../rules/movement-keys.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { Wallet, Wallets } from '../storage/wallet-document.ts'
import type { ApplyDeps, ApplyMessage } from './apply-message.ts'
import { freshRollback, reversalDocumentOf } from '../records/new-movement.ts'
import { callLeaseMs, lostAttemptOf, type RunCall } from './run-call.ts'

/** How far a movement could be taken now. `busy`: another call of its round is in flight. */
type Advanced = { readonly kind: 'advanced' | 'busy'; readonly document: MovementDocument }

export type AdvanceDue = {
  /**
   * Does whatever is due about a movement: call the wallet, give up a lost call, end a spent budget, make the record of a reversal.
   * Within the process one at a time per movement; between processes, and for a document that is out of date, the compare-and-set decides.
   */
  advance(document: MovementDocument, requestId: string): Promise<Advanced>
  /** Runs the call that the document, just stored, has begun already. */
  runBegun(document: MovementDocument, wallet: Wallet, requestId: string): Promise<MovementDocument>
  /**
   * Makes the record of the reversal that the original holds, if it is not there yet.
   * @returns the reversal's record, or null when its id belongs to another movement (the original is free of it then).
   */
  placeReversal(original: MovementDocument): Promise<MovementDocument | null>
  /** Resolves when nothing runs for this movement in this process. */
  idle(id: string): Promise<void>
}

const stepsMax = 6

export function createAdvanceDue({
  apply,
  runCall,
  movements,
  wallets,
  clock,
  newId,
}: ApplyDeps & { apply: ApplyMessage; runCall: RunCall; wallets: Wallets }): AdvanceDue {
  const running = new Map<string, Promise<unknown>>()

  async function alone<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    const before = running.get(id)
    const mine = (before ?? Promise.resolve()).then(work, work)
    running.set(id, mine)
    try {
      return await mine
    } finally {
      if (running.get(id) === mine) running.delete(id)
    }
  }

  async function advanceAlone(given: MovementDocument, requestId: string): Promise<Advanced> {
    let document = given
    for (let step = 1; step <= stepsMax; step++) {
      const at = clock.now()
      const action = nextAction(document, at)
      if (action === 'wait') break
      if (action === 'call') {
        const called = await call(document, at, requestId)
        document = called.document
        if (called.kind === 'busy') return called
      } else if (action === 'call-lost') {
        document = await giveUpCall(document)
      } else if (action === 'budget-spent') {
        const rollback = freshRollback(newId)
        document = (await apply(document, { kind: 'budget-spent', at, rollback })).document
      } else {
        await placeReversal(document)
        document = (await movements.findById(document._id)) ?? document
      }
    }
    return { kind: 'advanced', document }
  }

  async function call(document: MovementDocument, at: Date, requestId: string): Promise<Advanced> {
    const wallet = await wallets.open(scopeOf(document))
    if (wallet === null) throw new Error(`the wallet of ${document.walletKey} is gone`)
    const begin = { kind: 'call-begun', at, token: newId('call'), leaseMs: callLeaseMs(wallet) } as const
    const begun = await apply(document, begin)
    if (begun.kind === 'round-busy') {
      await freeRound(document)
      return { kind: 'busy', document: begun.document }
    }
    if (begun.kind !== 'applied') return { kind: 'busy', document: begun.document }
    await failpoint(`wallet.${document.operation ?? 'no'}-call-begun`)
    return { kind: 'advanced', document: await runCall(begun.document, wallet, requestId) }
  }

  /** Gives up the call that holds the round when its holder let its time pass. */
  async function freeRound(document: MovementDocument): Promise<void> {
    const holder = await movements.findCalling(callingRoundOf(document))
    if (holder?.call !== undefined && holder.call !== null && holder.call.until <= clock.now()) {
      await giveUpCall(holder)
    }
  }

  async function giveUpCall(document: MovementDocument): Promise<MovementDocument> {
    const message = { kind: 'call-lost', at: clock.now(), rollback: freshRollback(newId) } as const
    const lost = await apply(document, message, (nextAt) => lostAttemptOf(document, nextAt))
    return lost.document
  }

  async function placeReversal(original: MovementDocument): Promise<MovementDocument | null> {
    const { reversal } = original
    if (reversal === null) return null
    const wanted = reversalDocumentOf(original, reversal)
    const { transactionId } = reversal
    if ((await movements.insert(wanted)) === 'inserted') {
      await failpoint('wallet.reversal-inserted')
      await apply(original, { kind: 'reversal-placed', at: clock.now(), transactionId })
      return wanted
    }
    const present = await movements.findById(wanted._id)
    if (present?.reference === wanted.reference) {
      await apply(original, { kind: 'reversal-placed', at: clock.now(), transactionId })
      return present
    }
    const rollback = freshRollback(newId)
    const message = { kind: 'reversal-conflicted', at: clock.now(), transactionId, rollback } as const
    await apply(original, message)
    return null
  }

  return {
    placeReversal,
    advance: (document, requestId) => alone(document._id, () => advanceAlone(document, requestId)),
    runBegun: (document, wallet, requestId) =>
      alone(document._id, async () => {
        const after = await runCall(document, wallet, requestId)
        if (after.reversal !== null && !after.reversal.placed) await placeReversal(after)
        return after
      }),
    async idle(id) {
      await running.get(id)?.catch(() => undefined)
    },
  }
}
