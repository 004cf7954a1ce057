import type { Told } from './answers.ts'
import { movementsByRequest } from './check/requests.ts'
import { isExcused } from './check/restored.ts'
import type { Sources } from './check/sources.ts'
import type { Verdict } from './check/verdict.ts'
import type { OperatorClient } from './operator-client.ts'
import { codeOf, isTransient, send } from './send.ts'

const name = 'answers: asked again at the end, the record is answered and nothing moves'
const askedMax = 300

/**
 * Sends requests of the run once more, byte for byte, when all is over: each must be answered by its record.
 */
export async function repeatRequests(
  told: readonly Told[],
  { movements, rounds, restored }: Sources,
  operator: OperatorClient,
  verdict: Verdict,
): Promise<void> {
  const byId = movementsByRequest({ movements, rounds })
  const seen = new Set<string>()
  for (const { what, id, asked, token } of told.filter((entry) => !isExcused(entry, restored))) {
    const movement = byId.get(id ?? '')
    if (movement === undefined || seen.has(movement.transaction_id) || seen.size >= askedMax) continue
    if (what !== 'movement' && what !== 'stake') continue
    seen.add(movement.transaction_id)
    const { path, ...body } = asked
    let answer = await send('POST', `${operator.base}${String(path)}`, { token, body })
    if (isTransient(answer)) answer = await send('POST', `${operator.base}${String(path)}`, { token, body })
    const accepted = answer.status === 200 || answer.status === 201
    const right = accepted
      ? what === 'stake'
        ? answer.body.round_id === movement.round_id
        : answer.body.reference === movement.reference && answer.body.status === movement.status
      : movement.status === 'FAILED' ||
        (what === 'stake' && movement.status === 'ROLLED_BACK' && codeOf(answer) !== null)
    verdict.check(
      name,
      right,
      () =>
        `${movement.type} ${movement.transaction_id} ${movement.status}: ${answer.status} ${JSON.stringify(answer.body)}`,
    )
  }
}
