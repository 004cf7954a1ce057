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
  stream,
}: Pick<World, 'rounds' | 'movements' | 'protection' | 'stream'>): string {
  const unfinished = [...rounds.table.values()].filter(
    ({ round, outbox }) => isUnfinished(round) || owesSomething(round) || outbox.length > 0,
  )
  const pending = [...movements.table.values()].filter(
    ({ status, reversal }) =>
      status === 'PENDING' ||
      (reversal !== null && !movements.table.has(movementIdOf(scope, reversal.transactionId))),
  )
  const unlisted = [...movements.table.values()].filter(
    ({ _id, n }) => (movements.journal.lists.get(_id)?.n ?? 0) < n,
  )
  const onTheWire = movements.journal.onTheWire()
  const stops = [...protection.stops.values()].filter(({ dueAt }) => dueAt !== null)
  return [
    ...unfinished.map(({ round }) => `${round.id} ${round.status}`),
    ...pending.map(({ type, transactionId, status }) => `${type} ${transactionId} ${status}`),
    ...movements.unsent(stream.has).map(({ id }) => `event ${id}`),
    ...unlisted.map(({ transactionId }) => `${transactionId} in lists`),
    ...(onTheWire === 0 ? [] : [`${onTheWire} documents on the wire`]),
    ...stops.map(({ _id, playerId }) => `stop ${_id} of ${playerId}`),
  ].join(', ')
}
