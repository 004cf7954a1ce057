import { isUnfinished } from '@pitboss/rounds/rules/round'
import { decodeRound, fieldsOf, type RoundDocument } from '@pitboss/rounds/storage/round-document'
import { streamOf } from '@pitboss/rounds/storage/round-stream'
import type { InstanceDocument } from '@pitboss/storage/journal/instances'
import { entryId } from '@pitboss/storage/journal/journal-keys'
import { BrokenInvariant } from './check-steps.ts'
import type { World } from './world.ts'

export type RoundsJournalChecks = ReturnType<typeof createRoundsJournalChecks>

/**
 * The promises of the journal, lists, instances and nonces of rounds, in every step.
 * @throws BrokenInvariant
 */
export function createRoundsJournalChecks(
  world: () => Pick<World, 'rounds' | 'sessions' | 'stream' | 'faults'>,
) {
  const holds = (name: string, is: boolean, what: () => string) => {
    if (!is) throw new BrokenInvariant(name, what())
  }
  const listed = (id: string) => world().rounds.journal.lists.get(id)

  return {
    /** A round that has just begun to stand, among the others of its player and game. */
    roundOpened(id: string): void {
      const { rounds, faults } = world()
      const own = rounds.table.get(id)
      if (own === undefined) return
      const { chain, nonce, serverSeedHash } = own.fields
      const others = [...rounds.table.values()].filter(
        ({ round, fields }) => fields.chain === chain && round.id !== id,
      )
      const show = () => `${id} at ${nonce} of ${chain}`
      const isAlone = !others.some(({ round }) => isUnfinished(round))
      holds('a player has one unfinished round of a game', isAlone, show)
      const last = others.find(({ fields }) => fields.nonce === nonce - 1)
      const isNext = nonce === 1 || last !== undefined || ['rounds', 'both'].includes(faults.restore ?? '')
      holds('a round follows the one before it', isNext, show)
      const { next } = last?.fields ?? {}
      const isCommitted = next === undefined || next.serverSeedHash === serverSeedHash
      holds('a round has the seed that was committed to before it', isCommitted, show)
    },

    /** Unfinished rounds are read from the journal, so a document of them with this status is enough. */
    roundAnswered(roundId: string): void {
      const row = world().rounds.table.get(roundId)
      const document = listed(roundId)
      if (row === undefined) return
      const isListed =
        document !== undefined && (isUnfinished(document) || document.status === row.round.status)
      holds('what an answer names is in lists', isListed, () => `${roundId} ${row.round.status}`)
    },

    roundListed(before: RoundDocument | null, after: RoundDocument): void {
      const isNewer = before === null || (before.n ?? 0) < (after.n ?? 0)
      holds('lists never go back', isNewer, () => `${after._id} at ${after.n}, over ${before?.n}`)
      const { _id, n = 0, w, gone = false } = after
      if (gone) return
      const { rounds, faults } = world()
      const entry = rounds.journal.documents.get(entryId(streamOf(decodeRound(fieldsOf(after))), n))
      // What a process remembers may be later than a database that was set back.
      const isStanding = entry?.w === w || faults.restore !== null
      holds('lists show entries that stand', isStanding, () => `${_id} at ${n}`)
    },

    progressRaised({ _id: o, done: before }: InstanceDocument, { done }: InstanceDocument): void {
      if (done <= before) return
      const { rounds, sessions, stream } = world()
      for (const entries of rounds.journal.streams.values()) {
        for (const { _id, o: by, q, f, ev = [] } of entries) {
          if (by !== o || q <= before || q > done) continue
          const isSent = ev.every(({ id }) => stream.has(id))
          holds('an entry is done once its events are recorded', isSent, () => `${_id}, ${done} of ${o}`)
          const isThere = f.every(({ session }) => session === undefined || sessions.table.has(session._id))
          holds('an entry is done once its session is there', isThere, () => `${_id}, ${done} of ${o}`)
        }
      }
      for (const { round, n, w } of rounds.table.values()) {
        const entry = [...rounds.journal.documents.values()].find((one) => one.w === w && 'q' in one)
        if (entry === undefined || !('q' in entry) || entry.o !== o || entry.q <= before || entry.q > done)
          continue
        const isListed = (listed(round.id)?.n ?? 0) >= n
        holds('an entry is done once it is in lists', isListed, () => `${round.id} ${n}`)
      }
    },

    /** At rest lists show what the journal holds. */
    allListed(): void {
      const { rounds, sessions } = world()
      for (const { _id, f } of [...rounds.journal.streams.values()].flat()) {
        const isThere = f.every(({ session }) => session === undefined || sessions.table.has(session._id))
        holds('a session that was opened is there', isThere, () => _id)
      }
      for (const { round, n } of rounds.table.values()) {
        const document = listed(round.id)
        const isSame = document?.status === round.status && document.n === n
        holds('lists show what stands', isSame, () => `${round.id} ${round.status}, ${document?.status}`)
      }
      for (const { _id, gone = false } of rounds.journal.lists.values())
        holds('lists show nothing else', gone || rounds.table.has(_id), () => _id)
    },
  }
}
