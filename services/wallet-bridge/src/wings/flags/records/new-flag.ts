import { factIdOf } from '@pitboss/storage/event-id'
import { scopeOf } from '../../../rules/movement-keys.ts'
import type { FlagDocument } from '../storage/flag-store.ts'
import type { MovementDocument } from '../../../storage/movement-document.ts'

type Fact = Pick<FlagDocument, 'rule' | 'happenedAt' | 'raisedAt' | 'transactionIds'> & {
  /** What the flag is about, within its rule and account. */
  readonly about: string
  /** The reference of the first movement, whose time the id begins with. */
  readonly of: string
}

/** The flag of a fact, with an open case. A flag about several movements names no round and no amount. */
export function newFlag(movement: MovementDocument, { about, of, rule, ...fact }: Fact): FlagDocument {
  const scope = scopeOf(movement)
  const isOne = rule === 'BIG_WIN' || rule === 'BACK_AFTER_WIN'
  return {
    _id: factIdOf('flg', scope, { type: rule, about, of }),
    version: 1,
    walletKey: movement.walletKey,
    ...scope,
    rule,
    status: 'OPEN',
    playerId: rule === 'UNKNOWN_OUTCOMES_OF_WALLET' ? null : movement.playerId,
    game: isOne ? movement.game : null,
    roundId: isOne ? movement.roundId : null,
    amount: isOne ? movement.amount : null,
    currency: isOne ? movement.currency : null,
    notes: [],
    ...fact,
    updatedAt: fact.raisedAt,
  }
}
