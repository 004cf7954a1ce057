import type { Told } from '@pitboss/chaos/answers'
import { type Answer, codeOf } from '@pitboss/chaos/send'
import { movementIdOf } from '@pitboss/wallet-bridge/rules/movement-keys'
import { BrokenInvariant } from '../check-steps.ts'
import { requestKeyOf } from '../accepted.ts'
import { scope, type World } from '../world.ts'
import { type ClientDeps, createClient } from './client.ts'

const asksMax = 12
/** Of the details of a refusal that has used up the id of its request. */
const usedUpPath = 'transaction_id'

/**
 * Sends requests once more that were sent hours ago: those that were refused for good are refused in the same
 * words. What the others are answered is judged with all other answers.
 * @throws BrokenInvariant
 */
export async function askLater(deps: ClientDeps): Promise<void> {
  const { answers, random, sent, world } = deps
  const { ask } = createClient(deps)
  const refusals = new Map(
    answers.all().flatMap((told): [string, Told][] => (isUsedUp(told) ? [[told.id ?? '', told]] : [])),
  )
  const byId = new Map(
    sent.flatMap((one) =>
      one.request.id === null || one.request.what === 'other-body' ? [] : [[one.request.id, one]],
    ),
  )
  const [refused, others] = [[...byId].filter(([id]) => refusals.has(id)), [...byId]]
  const asks = Array.from({ length: asksMax }, (_, index) =>
    random.pick(index % 2 === 0 && refused.length > 0 ? refused : others),
  )
  for (const [id, { request, send }] of new Map(asks)) {
    const answer = await ask(request, send)
    const before = refusals.get(id)
    // A stake that the wallet refused late is told by its record once it is rolled back.
    if (before === undefined || isRolledBack(world, id)) continue
    if (codeOf(answer) !== codeOf(before.answer)) {
      const text = `${id}: ${codeOf(before.answer)}, then ${answer.status} ${codeOf(answer)}`
      throw new BrokenInvariant('an id that was refused for good is dead for a day', text)
    }
  }
}

/** @param id of a movement, or the key of a page's request */
function isRolledBack({ movements, rounds }: World, id: string): boolean {
  const stored = [...rounds.table.values()].find(({ round }) => requestKeyOf(round) === id)
  const [stake] = stored?.round.stakes ?? []
  const movement = movements.table.get(movementIdOf(scope, stake?.transactionId ?? id))
  return movement?.status === 'ROLLED_BACK'
}

function isUsedUp({ what, id, answer }: Told): boolean {
  return id !== null && (what === 'stake' || what === 'movement') && namesItsId(answer)
}

function namesItsId({ body: { details } }: Answer): boolean {
  return Array.isArray(details) && details.some((one: { path?: unknown }) => one.path === usedUpPath)
}
