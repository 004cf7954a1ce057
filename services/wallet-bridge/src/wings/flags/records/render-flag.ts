import type { Flag, FlagCase } from '@pitboss/contracts/objects/flag'
import type { FlagDocument } from '../storage/flag-store.ts'

/** The public record of a flag in a list. Source: docs/contract.md, section 3. */
export function toFlag(flag: FlagDocument): Flag {
  return { ...shared(flag), movements: flag.transactionIds.length, notes: flag.notes.length }
}

export function toFlagCase(flag: FlagDocument): FlagCase {
  return {
    ...shared(flag),
    transaction_ids: [...flag.transactionIds],
    notes: flag.notes.map(({ at, by, text }) => ({ at: at.toISOString(), by, text })),
  }
}

/** What the audit log keeps of a case: its status, the number of its notes and the last one. */
export function toCaseRecord({ status, notes }: Pick<FlagDocument, 'status' | 'notes'>) {
  return { status, notes: notes.length, last_note: notes.at(-1)?.text ?? null }
}

function shared(flag: FlagDocument) {
  return {
    flag_id: flag._id,
    rule: flag.rule,
    status: flag.status,
    environment: flag.environment,
    player_id: flag.playerId,
    game: flag.game,
    round_id: flag.roundId,
    amount: flag.amount,
    currency: flag.currency,
    happened_at: flag.happenedAt.toISOString(),
    raised_at: flag.raisedAt.toISOString(),
    updated_at: flag.updatedAt.toISOString(),
  }
}
