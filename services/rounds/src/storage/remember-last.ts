import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Clock } from '@pitboss/runtime/clock'
import { isUnfinished, type RoundState } from '../rules/round.ts'
import { sequenceOf } from './round-document.ts'
import type { RoundsStore } from './rounds-store.ts'

const rememberedMax = 10_000
/**
 * Time for which an end is remembered. Another replica's round makes it old, which the indexes show at the
 * next insert. A database that was set back makes it too new, which nothing shows: so it is short against the
 * time that a restore takes. Source: ours.
 */
const rememberedMs = 60_000

/**
 * The same store, which knows the last nonce of sequences whose last round this process has seen to its end:
 * no read before the next round of a player who goes on playing. A finished round is never removed, and the
 * indexes refuse a nonce that is taken, so a memory that another replica has made old costs one more try: a
 * sequence has no free nonce below its last, lost rounds included (`skipTo`).
 * Source: docs/contract.md, section 12, "Rounds and movements".
 */
export function rememberLast(rounds: RoundsStore, clock: Clock): RoundsStore {
  const ends = new BoundedMap<string, { nonce: number; at: number }>(rememberedMax)

  function learn(round: RoundState): void {
    if (isUnfinished(round)) return
    const sequence = sequenceOf(round)
    if ((ends.get(sequence)?.nonce ?? 0) > round.nonce) return
    ends.set(sequence, { nonce: round.nonce, at: clock.now().getTime() })
  }

  return {
    ...rounds,
    async insert(write, now) {
      const inserted = await rounds.insert(write, now)
      if (inserted === null) ends.delete(sequenceOf(write.round))
      return inserted
    },
    async update(stored, write, now) {
      const updated = await rounds.update(stored, write, now)
      if (updated !== null) learn(updated.round)
      return updated
    },
    async skipTo(sequence, nonce, round) {
      ends.delete(sequence)
      await rounds.skipTo(sequence, nonce, round)
    },
    async skipNext(sequence, roundId, round) {
      ends.delete(sequence)
      await rounds.skipNext(sequence, roundId, round)
    },
    async last(sequence) {
      const end = ends.get(sequence)
      const isFresh = end !== undefined && Math.abs(clock.now().getTime() - end.at) < rememberedMs
      return isFresh ? { nonce: end.nonce, unfinished: false } : rounds.last(sequence)
    },
  }
}
