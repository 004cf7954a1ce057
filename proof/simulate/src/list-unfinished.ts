import { isUnfinished, owesSomething } from '@pitboss/rounds/rules/round'
import { movementIdOf } from '@pitboss/wallet-bridge/rules/movement-keys'
import { scope, type World } from './world.ts'

/**
 * The rounds, movements and stops that have not ended, with the events that they still have to publish; empty
 * when all is at rest.
 */
export function listUnfinished({
  rounds,
  movements,
  protection,
}: Pick<World, 'rounds' | 'movements' | 'protection'>): string {
  const unfinished = [...rounds.table.values()].filter(
    ({ round, outbox }) => isUnfinished(round) || owesSomething(round) || outbox.length > 0,
  )
  const pending = [...movements.table.values()].filter(
    ({ status, outbox, reversal }) =>
      status === 'PENDING' ||
      outbox.length > 0 ||
      (reversal !== null && !movements.table.has(movementIdOf(scope, reversal.transactionId))),
  )
  const stops = [...protection.stops.values()].filter(({ dueAt }) => dueAt !== null)
  return [
    ...unfinished.map(({ round }) => `${round.id} ${round.status}`),
    ...pending.map(({ type, transactionId, status }) => `${type} ${transactionId} ${status}`),
    ...stops.map(({ _id, playerId }) => `stop ${_id} of ${playerId}`),
  ].join(', ')
}
