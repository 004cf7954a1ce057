import type { InstanceDocument } from '@pitboss/storage/journal/instances'
import type { Entry } from '@pitboss/storage/journal/journal'
import { entryId } from '@pitboss/storage/journal/journal-keys'
import { type MoneyFact, moneyStream } from '@pitboss/wallet-bridge/storage/round-money'
import type { ListedMovement } from '@pitboss/wallet-bridge/storage/listed-movements'
import type { MovementDocument } from '@pitboss/wallet-bridge/storage/movement-document'
import { BrokenInvariant } from './check-steps.ts'
import type { World } from './world.ts'

type Backlog = {
  /** The instance that has pulled its backlog forward. */
  readonly o: string
  readonly now: Date
  /** The movements as they stood before. */
  readonly waiting: ReadonlyMap<string, MovementDocument>
  /** The ids of those that it found due afterwards. */
  readonly due: ReadonlySet<string>
}

/** A take-over that began on an older view of its stream has ended by then; clocks differ by 3 s. */
const takenWithinMs = 10_000

export type JournalChecks = ReturnType<typeof createJournalChecks>

/**
 * The promises of wallet-bridge's journal, lists and instances, in every step.
 * @throws BrokenInvariant
 */
export function createJournalChecks(world: () => Pick<World, 'movements' | 'stream' | 'faults'>) {
  const holds = (name: string, is: boolean, what: () => string) => {
    if (!is) throw new BrokenInvariant(name, what())
  }
  const listedAt = (id: string) => world().movements.journal.lists.get(id)?.n ?? 0
  const show = ({ type, transactionId, status, n }: MovementDocument) =>
    `${type} ${transactionId} ${status} at ${n}`

  return {
    entryLanded({ _id, o, f, at }: Entry<MoneyFact>, before: Entry<MoneyFact> | null): void {
      if (before === null || before.o === o || !f.some((fact) => 'adopted' in fact)) return
      // Who writes while the stream is being taken over may be overtaken.
      if (at.getTime() - before.at.getTime() < takenWithinMs) return
      const owner = world().movements.instances.table.get(before.o)
      const isDead = owner === undefined || owner.judgedAt !== null
      holds('a stream is taken over from the dead alone', isDead, () => `${_id} of ${before.o} by ${o}`)
    },

    /** A movement stands once its entry and its claim do: then it is acted on. */
    movementGone(movement: MovementDocument): void {
      holds('what stands is never withdrawn', false, () => show(movement))
    },

    /** Tries may be further than lists show; whether it stands, and how it ended, may not. */
    movementAnswered(movement: MovementDocument): void {
      const listed = world().movements.journal.lists.get(movement._id)
      const isListed = listed !== undefined && (listed.n >= movement.n || listed.status === movement.status)
      holds(
        'what an answer names is in lists',
        isListed,
        () => `${show(movement)}, not ${listedAt(movement._id)}`,
      )
    },

    movementListed(before: ListedMovement | null, after: ListedMovement): void {
      const isNewer = before === null || before.n < after.n
      holds('lists never go back', isNewer, () => `${show(after)}, over ${before?.n}`)
      const { movements, faults } = world()
      const entry = movements.journal.documents.get(entryId(moneyStream(after), after.n))
      // What a process remembers may be later than a database that was set back.
      const isStanding = entry?.w === after.w || faults.restore !== null
      holds('lists show entries that stand', isStanding, () => show(after))
    },

    progressRaised({ _id: o, done: before }: InstanceDocument, { done }: InstanceDocument): void {
      if (done <= before) return
      const { movements, stream } = world()
      for (const [key, entries] of movements.journal.streams) {
        for (const { _id, o: by, q, ev = [], f } of entries) {
          if (by !== o || q <= before || q > done) continue
          const isSent = ev.every(({ id }) => stream.has(id))
          holds('an entry is done once its events are recorded', isSent, () => `${_id}, ${done} of ${o}`)
          const number = Number(_id.slice(_id.lastIndexOf('/') + 1))
          const own = [...movements.table.values()].filter(
            (one) => one.w === entries.find((each) => each._id === _id)?.w,
          )
          const isListed = f.length === 0 || own.every((one) => listedAt(one._id) >= one.n)
          holds('an entry is done once it is in lists', isListed, () => `${key} ${number}`)
        }
      }
    },

    /** What an instance has waiting for a wallet that answers again is tried at once. */
    backlogPulled({ o, now, waiting, due }: Backlog): void {
      const { movements } = world()
      for (const movement of waiting.values()) {
        const { _id, type, status, call, dueAt, updatedAt, w } = movement
        const isOwed = type !== 'BET' && status === 'PENDING' && call === null && dueAt !== null
        if (!isOwed || updatedAt > now || movements.table.get(_id)?.w !== w) continue
        if (ownerOf(movements, movement) !== o) continue
        holds('what waits for a wallet is due when it answers again', due.has(_id), () => show(movement))
      }
    },

    /** At rest lists show what the journal holds. */
    allListed(): void {
      const { movements } = world()
      for (const movement of movements.table.values()) {
        const listed = movements.journal.lists.get(movement._id)
        const isSame = listed?.status === movement.status && listed.tries === movement.tries
        holds('lists show what stands', isSame, () => `${show(movement)}, listed ${listed?.status}`)
      }
      for (const { _id } of movements.journal.lists.values()) {
        holds('lists show nothing else', movements.table.has(_id), () => _id)
      }
    },
  }
}

/** The instance that wrote the last entry of the movement's round. */
function ownerOf({ journal }: World['movements'], { w }: MovementDocument): string | undefined {
  const entries = [...journal.streams.values()].find((each) => each.some((entry) => entry.w === w))
  return entries?.at(-1)?.o
}
