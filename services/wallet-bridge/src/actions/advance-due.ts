import { scopeOf } from '@pitboss/contracts/caller'
import { roundMovementsMax } from '@pitboss/contracts/calls/wallet-ops'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Settlement } from '../context.ts'
import { nextAction } from '../rules/advance-movement.ts'
import { hasAnswer } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import { applyMessage, entriesOf } from './apply-message.ts'
import { beginReversal } from './begin-reversal.ts'
import { beginCall, logFieldsOf, lostAttemptOf, runCall, traceAdvance } from './run-call.ts'
import { freshRollback } from '../records/new-movement.ts'

const stepsMax = 6

/**
 * Does the next actions on a movement, the resolver's work: calls the wallet, gives up a lost call, ends a
 * spent budget, begins a reversal that is owed. A process works on a movement one at a time; between
 * processes the append decides. Source: docs/contract.md, section 5.
 */
export function advanceDue(settlement: Settlement, document: MovementDocument, requestId: string) {
  const work = () => advanceNow(settlement, document, requestId)
  return traceAdvance(document, requestId, () => settlement.inTurn(document._id, work))
}

/** Whether a further try of a stake is next; its rollback, and what leads to it, is owed. */
export function isStakeTry({ clock, scaleMs }: Settlement, document: MovementDocument): boolean {
  return document.operation === 'debit' && nextAction(document, clock.now(), scaleMs) === 'call'
}

async function advanceNow(settlement: Settlement, given: MovementDocument, requestId: string) {
  let document = given
  for (let step = 1; step <= stepsMax; step++) {
    const at = settlement.clock.now()
    const action = nextAction(document, at, settlement.scaleMs)
    if (action === 'wait') break
    if (action === 'call') {
      const called = await call(settlement, document, at, requestId)
      document = called.document
      if (called.isBusy) break
    } else if (action === 'call-lost') {
      document = await giveUpCall(settlement, document)
    } else if (action === 'budget-spent') {
      document = await endBudget(settlement, document, requestId)
    } else {
      const begun = await beginReversal(settlement, document, null)
      if (begun.kind !== 'refused') document = begun.original
      await failpoint('wallet.reversal-begun')
    }
  }
  return document
}

/** Begins and runs a call unless its round has one in flight. Most first calls begin in place-movement.ts. */
async function call(settlement: Settlement, document: MovementDocument, at: Date, requestId: string) {
  const wallet = await settlement.wallets.open(scopeOf(document))
  if (wallet === null) throw new Error(`the wallet of ${document.walletKey} is gone`)
  const begun = await applyMessage(settlement, document, beginCall(wallet, at, settlement.newId))
  if (begun.kind === 'round-busy') await freeRound(settlement, document)
  if (begun.kind !== 'applied') return { isBusy: true, document: begun.document }
  await failpoint(`wallet.${document.operation ?? 'no'}-call-begun`)
  return { isBusy: false, document: await runCall(settlement, begun.document, wallet, requestId) }
}

/** Gives up the call that is in flight in the round when its time has passed. */
async function freeRound(settlement: Settlement, document: MovementDocument): Promise<void> {
  const { movements, clock, scaleMs } = settlement
  const round = await movements.ofRound(scopeOf(document), document.roundId, roundMovementsMax)
  const calling = round.find((one) => one.call !== null)
  if (calling !== undefined && nextAction(calling, clock.now(), scaleMs) === 'call-lost')
    await giveUpCall(settlement, calling)
}

async function giveUpCall(settlement: Settlement, document: MovementDocument) {
  const message = { kind: 'call-lost', at: settlement.clock.now() } as const
  const attemptOf = (nextAt: Date | null) => lostAttemptOf(document, nextAt)
  return (await applyMessage(settlement, document, message, { attemptOf })).document
}

const pollFirstMs = 10
const pollLastMs = 200

export type PlaceContext = { readonly requestId: string; readonly deadlineAtMs: number }

/** Waits for the end of a first try, or makes it. Past the deadline the resolver goes on with it. */
export async function awaitFirstTry(settlement: Settlement, given: MovementDocument, call: PlaceContext) {
  const { movements, clock, wait } = settlement
  const { requestId, deadlineAtMs } = call
  let document = given
  let pollMs = pollFirstMs
  while (!hasAnswer(document)) {
    const leftMs = deadlineAtMs - clock.now().getTime()
    if (leftMs <= 0) break
    const work = advanceDue(settlement, document, requestId)
    const ended = await Promise.race([work, wait(leftMs).then(() => null)])
    if (ended === null) {
      // The work goes on; should it fail, the resolver finds the movement due.
      work.catch(() => undefined)
      break
    }
    document = (await movements.findById(document._id)) ?? ended
    if (hasAnswer(document)) break
    await wait(Math.min(pollMs, Math.max(1, leftMs)))
    pollMs = Math.min(pollMs * 2, pollLastMs)
  }
  return document
}

/** The pause before others are asked again: what events say takes them longer, and seldom changes. */
const askAgainMs = { unanswered: 5000, 'no-round': 5000, 'taken-by-events': 60_000, 'events-missing': 60_000 }
const actor = { kind: 'service', id: 'settlement', name: 'settlement' } as const

/**
 * Ends a stake whose time was used up uncalled, or whose call was lost. Its record may be older than what the
 * service has told of it, as after a restore: a stake that rounds knows as taken is a success, and one in
 * doubt waits for operations. Source: docs/contract.md, section 5.
 */
async function endBudget(settlement: Settlement, stake: MovementDocument, requestId: string) {
  const { askStanding, due, clock, newId, logger } = settlement
  const standing = await askStanding(stake, requestId)
  const at = clock.now()
  if (standing === 'not-taken') {
    const rollback = freshRollback(stake, newId)
    return (await applyMessage(settlement, stake, { kind: 'budget-spent', at, rollback })).document
  }
  const about = { ...logFieldsOf(stake), round_id: stake.roundId }
  if (standing === 'taken') {
    logger.warn(about, 'stake.known-as-taken')
    const { operator_id } = about
    const by = { operator_id, actor, client_address: null, request_id: requestId, reason: null }
    const entryOf = entriesOf(settlement, by, 'movement.heal')
    return (await applyMessage(settlement, stake, { kind: 'known-taken', at }, { entryOf })).document
  }
  const until = new Date(at.getTime() + askAgainMs[standing ?? 'unanswered'])
  const isNewDoubt = standing !== null && (stake.inDoubt !== true || stake.doubt !== standing)
  // A wait that changes nothing of the stake is no step of it: every replica asks once more after a restart.
  if (!isNewDoubt) return due.putOff(stake, until)
  if (stake.inDoubt !== true) logger.error({ ...about, doubt: standing }, 'stake.in-doubt')
  const held = { kind: 'rollback-held', at, until, doubt: standing } as const
  return (await applyMessage(settlement, stake, held)).document
}
