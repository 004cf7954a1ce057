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
    ({ round }) => isUnfinished(round) || owesSomething(round),
  )
  const unlistedRounds = [...rounds.table.values()].filter(
    ({ round: { id }, n }) => (rounds.journal.lists.get(id)?.n ?? 0) < n,
  )
  const pending = [...movements.table.values()].filter(
    ({ status, reversal }) =>
      status === 'PENDING' ||
      (reversal !== null && !movements.table.has(movementIdOf(scope, reversal.transactionId))),
  )
  const unlisted = [...movements.table.values()].filter(
    ({ _id, n }) => (movements.journal.lists.get(_id)?.n ?? 0) < n,
  )
  const onTheWire = movements.journal.onTheWire() + rounds.journal.onTheWire()
  const stops = [...protection.stops.values()].filter(({ dueAt }) => dueAt !== null)
  return [
    ...unfinished.map(({ round }) => `${round.id} ${round.status}`),
    ...pending.map(({ type, transactionId, status }) => `${type} ${transactionId} ${status}`),
    ...[...movements.unsent(stream.has), ...rounds.unsent(stream.has)].map(({ id }) => `event ${id}`),
    ...[...rounds.journal.lists.values()]
      .filter(({ _id, gone }) => gone !== true && !rounds.table.has(_id))
      .map(({ _id }) => `${_id} was taken back and is in lists`),
    ...rounds.unclaimed().map((stream) => `claims of ${stream}`),
    ...unlistedRounds.map(({ round: { id }, n }) => `${id} at ${n} in lists`),
    ...unlisted.map(({ transactionId }) => `${transactionId} in lists`),
    ...(onTheWire === 0 ? [] : [`${onTheWire} documents on the wire`]),
    ...stops.map(({ _id, playerId }) => `stop ${_id} of ${playerId}`),
  ].join(', ')
}
