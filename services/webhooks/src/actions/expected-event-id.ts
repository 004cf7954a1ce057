import type { Scope } from '@pitboss/contracts/caller'
import { eventIdOf } from '@pitboss/storage/event-id'

/**
 * The id that an event has by its fact, from what its envelope says. Events of earlier releases had random
 * ids, so theirs differ. Null when the data does not name the fact. Source: ours.
 */
export function expectedEventId(
  scope: Scope,
  type: string,
  data: Readonly<Record<string, unknown>>,
): string | null {
  const of = data[type.startsWith('game.session.') ? 'session_id' : 'round_id']
  const about = type.startsWith('transaction.') ? data.transaction_id : of
  return typeof about === 'string' && typeof of === 'string' ? eventIdOf(scope, { type, about, of }) : null
}
