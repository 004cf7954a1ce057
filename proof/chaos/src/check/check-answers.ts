import type { Told } from '../answers.ts'
import { codeOf, isTransient } from '../send.ts'
import { ofTheRequest } from './check-refusals.ts'
import { groupBy } from './group.ts'
import { movementsByRequest } from './requests.ts'
import { forgottenIds, isExcused } from './restored.ts'
import type { Movement, Round } from './rows.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  taken: 'answers: what a client was told is what is read at the end',
  forever: 'answers: the same id and body has the same answer',
  other: 'answers: another body under the same id is a conflict',
  refused: 'answers: a refused movement stays refused',
  internal: 'answers: no internal error',
  unasked: 'answers: a win is rolled back only for who asked for it',
} as const

const refusals = [
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'BET_LIMIT_EXCEEDED',
  'CURRENCY_MISMATCH',
  'WALLET_REJECTED',
]

/** Compares the clients' answers with the final reads. */
export function checkAnswers(told: readonly Told[], sources: Sources, verdict: Verdict): void {
  const { movements, rounds, restored } = sources
  const judged = told.filter((entry) => !isExcused(entry, restored))
  const forgotten = forgottenIds(sources)
  const byId = movementsByRequest({ movements, rounds })
  const roundsById = new Map(rounds.map((round) => [round.round_id, round]))
  for (const entry of judged) {
    const internal = codeOf(entry.answer) === 'INTERNAL_ERROR'
    verdict.check(
      names.internal,
      !internal,
      () => `${entry.at} ${JSON.stringify(entry.asked)}: ${JSON.stringify(entry.answer.body)}`,
    )
    if (entry.what === 'stake' || entry.what === 'action') checkRound(entry, roundsById, verdict)
    // Nothing stands of a stake that was given back and is forgotten.
    const isBack = entry.answer.body.status === 'ROLLED_BACK' && forgotten.has(entry.id ?? '')
    if (entry.what === 'movement' && !isBack) checkMovement(entry, { byId, restored }, verdict)
    const isJudged = !isTransient(entry.answer) && !ofTheRequest.includes(codeOf(entry.answer) ?? '')
    if (entry.what === 'other-body' && isJudged) {
      const conflict = codeOf(entry.answer) === 'TRANSACTION_CONFLICT'
      verdict.check(names.other, conflict, () => `${entry.id}: ${JSON.stringify(entry.answer)}`)
    }
  }
  const asked = new Set(told.flatMap(({ what, id }) => (what === 'movement' && id !== null ? [id] : [])))
  for (const { type, transaction_id: id, reference_transaction_id: reference } of movements) {
    if (type !== 'ROLLBACK' || byId.get(reference ?? '')?.type !== 'WIN') continue
    verdict.check(names.unasked, asked.has(id), () => `${id} rolled ${reference} back and nobody asked`)
  }
  const repeated = judged.filter(({ what, id }) => (what === 'movement' || what === 'stake') && id !== null)
  for (const [id, entries] of groupBy(repeated, (entry) => entry.id))
    checkRepeats(id, entries, byId.get(id), verdict)
}

function checkRound({ answer, at }: Told, rounds: Map<string, Round>, verdict: Verdict): void {
  if (answer.status < 200 || answer.status > 201 || typeof answer.body.round_id !== 'string') return
  const { round_id, status, payout, outcome } = answer.body
  const round = rounds.get(round_id)
  const ended = status === 'SETTLED' || status === 'VOIDED' || status === 'FAILED' || status === 'SETTLING'
  const same =
    round !== undefined &&
    (!ended ||
      ((round.status === status || (status === 'SETTLING' && round.status === 'SETTLED')) &&
        round.payout === payout &&
        JSON.stringify(round.outcome) === JSON.stringify(outcome)))
  verdict.check(
    names.taken,
    same,
    () =>
      `${at} ${round_id} was told ${String(status)} ${String(payout)}, is ${round?.status} ${round?.payout}`,
  )
}

function checkMovement(
  { id, answer, at }: Told,
  { byId, restored }: { byId: Map<string, Movement> } & Pick<Sources, 'restored'>,
  verdict: Verdict,
): void {
  const movement = byId.get(id ?? '')
  // No event tells the reference of a win of nothing.
  const isNew = Number(movement?.amount) === 0 && restored?.movements.has(id ?? '') === true
  if (answer.status === 200 || answer.status === 201) {
    const { status, reference, amount } = answer.body
    const later = movement?.status === 'REFUNDED' || movement?.status === 'ROLLED_BACK'
    const same =
      movement !== undefined &&
      (movement.reference === reference || isNew) &&
      movement.amount === amount &&
      (movement.status === status || (status === 'SUCCESS' && later))
    verdict.check(names.taken, same, () => `${at} ${id} was told ${String(status)}, is ${movement?.status}`)
    return
  }
  if (!refusals.includes(codeOf(answer) ?? '') || movement === undefined) return
  const refused = movement.status === 'FAILED' || movement.status === 'ROLLED_BACK'
  verdict.check(names.refused, refused, () => `${at} ${id} was told ${codeOf(answer)}, is ${movement.status}`)
}

/** Once answered for good, always answered so: one record, or one refusal of the wallet. */
function checkRepeats(id: string, entries: Told[], movement: Movement | undefined, verdict: Verdict): void {
  const kinds = new Set<string>()
  for (const { answer } of entries) {
    const code = codeOf(answer) ?? ''
    if (answer.status >= 200 && answer.status < 300) kinds.add(`ok ${identity(answer.body)}`)
    else if (refusals.includes(code)) kinds.add(code)
  }
  // A stake that was given back is told of as refused while its rollback runs, and by its record afterwards.
  const givenBack =
    movement?.status === 'ROLLED_BACK' && [...kinds].filter((kind) => kind.startsWith('ok')).length <= 1
  verdict.check(names.forever, kinds.size <= 1 || givenBack, () => `${id}: ${[...kinds].join(' and ')}`)
}

function identity(body: Record<string, unknown>): string {
  return `${String(body.reference ?? body.round_id)} ${String(body.amount ?? body.stake)}`
}
