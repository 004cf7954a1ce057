import { forgottenIds } from './restored.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const name = 'events: the event of a movement says what the record says'
const fields = [
  'reference',
  'type',
  'amount',
  'currency',
  'player_id',
  'session_id',
  'round_id',
  'free_bet',
] as const

/** Facts of each event against those of its movement, which never change. docs/contract.md, section 7. */
export function checkEventData(
  sources: Pick<Sources, 'movements' | 'events' | 'ledger' | 'restored'>,
  verdict: Verdict,
): void {
  const { movements, events, restored } = sources
  const forgotten = forgottenIds(sources)
  const byId = new Map(movements.map((movement) => [movement.transaction_id, movement]))
  for (const { id, type, data } of events) {
    const movement = type.startsWith('transaction.') ? byId.get(String(data.transaction_id)) : undefined
    if (movement === undefined || forgotten.has(movement.transaction_id)) continue
    // What was lost and is asked for once more has another reference.
    const isAskedAgain = restored?.movements.has(movement.transaction_id) === true
    const told = isAskedAgain ? fields.filter((field) => field !== 'reference') : fields
    const other = told.filter((field) => data[field] !== movement[field])
    verdict.check(
      name,
      other.length === 0,
      () =>
        `${id} of ${movement.transaction_id}: ${other.map((field) => `${field} ${JSON.stringify(data[field])}, not ${JSON.stringify(movement[field])}`).join('; ')}`,
    )
  }
}
