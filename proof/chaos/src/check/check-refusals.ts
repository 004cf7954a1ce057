import type { Told } from '../answers.ts'
import { codeOf } from '../send.ts'
import { groupBy } from './group.ts'
import { movementsByRequest, requestOf } from './requests.ts'
import { isExcused } from './restored.ts'
import type { Movement } from './rows.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  nothing: 'refusals: what was refused for good never has an effect',
  found: 'refusals: a stake that was accepted is found by what gives it back',
  reversed: 'refusals: what is said to be given back already does not stand at the end',
  kept: 'refusals: what was accepted is not refused later',
  same: 'refusals: an id that was refused for good is refused the same way later',
  conflict: 'refusals: an id is in conflict with another body alone',
  buried: 'refusals: what a rollback has not found is never taken later',
  gone: 'reversals: once a ROLLBACK is answered nothing of its original stands',
} as const

/** Codes of which no request is a promise about its id: the sender may not ask. */
export const ofTheRequest: readonly string[] = [
  'UNAUTHORIZED',
  'INVALID_CREDENTIALS',
  'TOKEN_EXPIRED',
  'IP_NOT_ALLOWED',
  'FORBIDDEN',
  'INSUFFICIENT_SCOPE',
  'OPERATOR_SUSPENDED',
  'OPERATOR_NOT_LIVE',
  'REAL_MONEY_DISABLED',
]
/** Further codes that leave the id alive, as every `*_NOT_FOUND` does: an equal request is judged again. */
const ofTheForm: readonly string[] = [
  'VALIDATION_ERROR',
  'TRANSACTION_CONFLICT',
  'WALLET_NOT_CONFIGURED',
  'GAME_UNAVAILABLE',
  'SESSION_EXPIRED',
  'SESSION_CLOSED',
]
const ofTheWallet = [
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'BET_LIMIT_EXCEEDED',
  'CURRENCY_MISMATCH',
  'WALLET_REJECTED',
]

type Facts = {
  /** By their ids, and by the keys of their requests. */
  readonly movements: ReadonlyMap<string, Movement>
  /** Ids whose movement, or free round, has an effect in the end. */
  readonly effective: ReadonlySet<string>
  /**
   * Since when, by the clients' clock, the instance of this id that exists in the end was the product's for
   * certain; infinity when that is not known.
   */
  acceptedAtMs(id: string): number
}

/**
 * Refusals that say "no, and never" against what became of their ids. docs/contract.md, section 1, "What a
 * refusal promises".
 */
export function checkRefusals(told: readonly Told[], sources: Sources, verdict: Verdict): void {
  const own = told.filter(
    (entry) =>
      (entry.what === 'movement' || entry.what === 'stake') &&
      entry.id !== null &&
      !isExcused(entry, sources.restored),
  )
  const facts = factsOf(own, sources)
  for (const { at, id, asked, answer } of own) {
    const { type, reference_transaction_id: reference } = asked
    if (type !== 'ROLLBACK' || typeof reference !== 'string') continue
    if (answer.status < 200 || answer.status > 201 || answer.body.status !== 'SUCCESS') continue
    verdict.check(names.gone, !facts.effective.has(reference), () => `${at} ${id} of ${reference}`)
  }
  for (const [id, entries] of groupBy(own, (entry) => entry.id)) {
    for (const entry of entries.filter(isRefusedForGood)) {
      checkEffect(id, entry, entries, { facts, clockSlackMs: sources.clockSlackMs, verdict })
      checkSame(id, entry, entries, facts, verdict)
      checkConflict(entry, entries, verdict)
      checkKept(id, entry, entries, facts, verdict)
      checkReference(entry, facts, verdict)
    }
  }
}

/**
 * A refusal is wrong when its movement stands. Where it leaves the id alive, a later request for it may have
 * been accepted: one sent after the refusal's answer is judged again. So may be one that was under way when
 * it was answered, or was sent between the decision and that answer, by clocks that differ. Of one that was
 * answered with an unknown outcome nobody knows for how long it is under way.
 */
function checkEffect(
  id: string,
  refused: Told,
  entries: readonly Told[],
  { facts, clockSlackMs, verdict }: { facts: Facts; clockSlackMs: number; verdict: Verdict },
) {
  const code = codeOf(refused.answer)
  if (code === 'TRANSACTION_CONFLICT' || code === 'TRANSACTION_NOT_FOUND') return
  if (kills(refused)) {
    verdict.check(names.nothing, !facts.effective.has(id), () => `${show(refused)}, yet it has an effect`)
    return
  }
  const isAccepted = facts.acceptedAtMs(id) < refused.sentAtMs
  const again = entries.some(
    (entry) =>
      !isRefusedForGood(entry) &&
      (!isAccepting(entry) ||
        entry.answeredAtMs >= refused.answeredAtMs ||
        entry.sentAtMs >= refused.sentAtMs - clockSlackMs),
  )
  const holds = !facts.effective.has(id) || (again && !isAccepted)
  verdict.check(names.nothing, holds, () => `${show(refused)}, yet it has an effect`)
}

/**
 * Whoever asks again for what was refused for good is told the same, as far as he may ask and is answered.
 */
function checkSame(id: string, refused: Told, entries: readonly Told[], facts: Facts, verdict: Verdict) {
  // A stake that the wallet refused late is told by its record once it is rolled back.
  if (!kills(refused) || facts.movements.get(id)?.status === 'ROLLED_BACK') return
  const asked = JSON.stringify(refused.asked)
  const other = entries.find(
    (entry) =>
      entry.sentAtMs > refused.answeredAtMs &&
      JSON.stringify(entry.asked) === asked &&
      (isAccepting(entry) || (kills(entry) && codeOf(entry.answer) !== codeOf(refused.answer))),
  )
  verdict.check(names.same, other === undefined, () => `${show(refused)}, ${other && show(other)}`)
}

/** A page's id is that of one player and game alone: nobody else's request is in its way. */
function checkConflict(refused: Told, entries: readonly Told[], verdict: Verdict) {
  if (refused.what !== 'stake' || codeOf(refused.answer) !== 'TRANSACTION_CONFLICT') return
  const asked = JSON.stringify(refused.asked)
  const isExplained = entries.some((entry) => JSON.stringify(entry.asked) !== asked)
  verdict.check(names.conflict, isExplained, () => show(refused))
}

/**
 * A request that was accepted (2xx, or unknown with a resource) and is repeated is answered with its result.
 */
function checkKept(id: string, refused: Told, entries: readonly Told[], facts: Facts, verdict: Verdict) {
  const before = entries.filter((entry) => isAccepting(entry) && entry.answeredAtMs < refused.sentAtMs)
  if (before.length === 0) return
  const movement = facts.movements.get(id)
  const code = codeOf(refused.answer) ?? ''
  const isTruth =
    (movement?.status === 'FAILED' || movement?.status === 'ROLLED_BACK') && ofTheWallet.includes(code)
  const { type, reference_transaction_id: reference } = refused.asked
  const isReversal = type === 'REFUND' || type === 'ROLLBACK'
  const original = facts.movements.get(typeof reference === 'string' ? reference : '')
  // Nothing can be given back of a stake that the wallet has refused, and it has said so only now.
  const isMoot = isReversal && code === 'CONFLICT' && original?.status === 'FAILED'
  // Nobody could say so before: the service itself has given the stake back, and this reversal was never
  // made.
  const isKnownNow =
    code === 'TRANSACTION_ALREADY_REVERSED' &&
    movement === undefined &&
    before.every(({ answer }) => answer.status >= 300) &&
    (original?.status === 'ROLLED_BACK' || original?.status === 'REFUNDED')
  // Its intent was stored under an id that was dead already, and the service has given it back.
  const isGivenBack =
    kills(refused) && movement?.status === 'ROLLED_BACK' && before.every(({ answer }) => answer.status >= 300)
  // An intent that was never placed may have been taken back, and asked for again: that one was not
  // accepted before.
  const isOther = !isReversal && !(facts.acceptedAtMs(id) < refused.sentAtMs)
  verdict.check(
    names.kept,
    isTruth || isMoot || isKnownNow || isGivenBack || isOther,
    () => `${show(refused)}, after ${before.map(({ answer }) => answer.status).join(', ')}`,
  )
}

function checkReference(refused: Told, facts: Facts, verdict: Verdict): void {
  const { reference_transaction_id: reference } = refused.asked
  if (typeof reference !== 'string') return
  const code = codeOf(refused.answer)
  const original = facts.movements.get(reference)
  if (code === 'TRANSACTION_NOT_FOUND') {
    const holds = original === undefined || !(facts.acceptedAtMs(reference) < refused.sentAtMs)
    verdict.check(names.found, holds, () => `${show(refused)}; ${reference} is ${original?.status}`)
    const stands = refused.asked.type === 'ROLLBACK' && facts.effective.has(reference)
    verdict.check(names.buried, !stands, () => `${show(refused)}; ${reference} is ${original?.status}`)
  }
  if (code === 'TRANSACTION_ALREADY_REVERSED') {
    const holds = original?.status !== 'SUCCESS'
    verdict.check(names.reversed, holds, () => `${show(refused)}; ${reference} is ${original?.status}`)
  }
}

function isRefusedForGood({ answer }: Told): boolean {
  return answer.body.retryable === false && !ofTheRequest.includes(codeOf(answer) ?? '')
}

/** Whether the refusal is the answer to every equal request from then on. */
function kills(entry: Told): boolean {
  const code = codeOf(entry.answer) ?? ''
  return isRefusedForGood(entry) && !ofTheForm.includes(code) && !code.endsWith('NOT_FOUND')
}

function isAccepting({ answer }: Told): boolean {
  return (answer.status >= 200 && answer.status < 300) || answer.body.resource !== undefined
}

function factsOf(
  told: readonly Told[],
  { movements, rounds, ledger, accepted, clockSlackMs }: Sources,
): Facts {
  const byId = movementsByRequest({ movements, rounds })
  const moved = new Set(
    ledger.flatMap(({ operation, transaction_id: id, status }) =>
      operation !== 'adjustment' && status === 'APPLIED' && id !== null ? [id] : [],
    ),
  )
  const effective = new Set(moved)
  for (const [key, { transaction_id: id }] of byId) if (moved.has(id)) effective.add(key)
  for (const round of rounds) {
    const key = requestOf(round)
    if (round.free_bet && round.status === 'SETTLED' && key !== null) effective.add(key)
  }
  const since = new Map<string, number>()
  const note = (id: string, atMs: number) => since.set(id, Math.min(atMs, since.get(id) ?? Infinity))
  if (accepted === null) {
    for (const [id, { created_at }] of byId) note(id, Date.parse(created_at) + clockSlackMs)
    for (const entry of told) {
      const roundId = roundOf(entry)
      const id = entry.id ?? ''
      if (isAccepting(entry) && byId.get(id)?.round_id === roundId) note(id, entry.answeredAtMs)
    }
  } else {
    // An intent without a movement in the end was taken back, except that a free round has no stake to place.
    const free = new Set(rounds.flatMap(({ free_bet, round_id }) => (free_bet ? [round_id] : [])))
    for (const [id, { atMs, roundId }] of accepted) {
      const movement = byId.get(id)
      if (movement === undefined ? free.has(roundId) : movement.round_id === roundId) note(id, atMs)
    }
  }
  return { movements: byId, effective, acceptedAtMs: (id) => since.get(id) ?? Infinity }
}

function roundOf({ answer: { body } }: Told): unknown {
  if (typeof body.resource === 'object' && body.resource !== null && 'round_id' in body.resource) {
    return body.resource.round_id
  }
  return body.round_id
}

function show({ at, id, asked, answer }: Told): string {
  const { type = 'stake', reference_transaction_id: reference } = asked
  const what = [type, id, ...(reference === undefined ? [] : ['of', reference])].join(' ')
  return `${at} ${what} was answered ${answer.status} ${codeOf(answer)}`
}
