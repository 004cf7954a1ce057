import { scopeOf } from '@pitboss/contracts/caller'
import type { Flag, FlagCase } from '@pitboss/contracts/objects/flag'
import type { FlagDocument } from '../storage/flag-store.ts'
import { factIdOf } from '@pitboss/storage/event-id'
import type { MovementDocument } from '../../../storage/movement-document.ts'

/** The public record of a flag in a list. Source: docs/contract.md, section 3. */
export function toFlag(flag: FlagDocument): Flag {
  return { ...shared(flag), movements: flag.transactionIds.length, notes: flag.notes.length }
}

export function toFlagCase(flag: FlagDocument): FlagCase {
  const notes = flag.notes.map(({ at, by, text }) => ({ at: at.toISOString(), by, text }))
  return { ...shared(flag), transaction_ids: [...flag.transactionIds], notes }
}

/** What the audit log keeps of a case: its status, the number of its notes and the last one. */
export function toCaseRecord({ status, notes }: Pick<FlagDocument, 'status' | 'notes'>) {
  return { status, notes: notes.length, last_note: notes.at(-1)?.text ?? null }
}

function shared(flag: FlagDocument) {
  const { _id: flag_id, rule, status, environment, playerId, game, roundId, amount, currency } = flag
  return {
    ...{ flag_id, rule, status, environment, player_id: playerId, game },
    ...{ round_id: roundId, amount, currency },
    happened_at: flag.happenedAt.toISOString(),
    raised_at: flag.raisedAt.toISOString(),
    updated_at: flag.updatedAt.toISOString(),
  }
}

type Fact = Pick<FlagDocument, 'rule' | 'happenedAt' | 'raisedAt' | 'transactionIds'> & {
  /** What the flag is about, within its rule and account. */
  readonly about: string
  /** The reference of the first movement, whose time the id begins with. */
  readonly of: string
}

/** The flag of a fact, with an open case. A flag about several movements names no round and no amount. */
export function newFlag(movement: MovementDocument, { about, of, rule, ...fact }: Fact): FlagDocument {
  const scope = scopeOf(movement)
  const { game, roundId, amount, currency } = movement
  const isOne = rule === 'BIG_WIN' || rule === 'BACK_AFTER_WIN'
  const none = { game: null, roundId: null, amount: null, currency: null }
  return {
    ...{ _id: factIdOf('flg', scope, { type: rule, about, of }), version: 1, ...scope },
    ...{ walletKey: movement.walletKey, rule, status: 'OPEN', notes: [] },
    playerId: rule === 'UNKNOWN_OUTCOMES_OF_WALLET' ? null : movement.playerId,
    ...(isOne ? { game, roundId, amount, currency } : none),
    ...fact,
    updatedAt: fact.raisedAt,
  }
}
