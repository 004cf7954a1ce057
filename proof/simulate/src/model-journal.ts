import type { Random } from '@pitboss/chaos/random'
import type { Landed } from '@pitboss/storage/journal/group-commit'
import type { ClaimDocument, Entry, JournalDocument, JournalStore } from '@pitboss/storage/journal/journal'
import type { NewListDocument } from '@pitboss/storage/journal/list-documents'
import type { StreamKey } from '@pitboss/storage/journal/journal-keys'
import type { Faults } from './faults.ts'
import { createLaggingReads, type LaggingReads } from './lagging-reads.ts'
import type { Machine } from './machine.ts'
import type { Timeline } from './timeline.ts'
import type { JournalMistake } from './world.ts'

/** A list document shows its stream up to entry `n`; one of an earlier format has no `n`. */
export type Listed = { readonly _id: string; readonly n?: number }

/** List documents as one machine writes and reads them. */
type ModelLists<Document extends Listed> = {
  find(id: string): Promise<Document | null>
  list(isWanted: (document: Document) => boolean): Promise<readonly Document[]>
  /** Writes those that show more than what stands under their ids. */
  write(documents: readonly Document[]): Promise<void>
  /** What of these can go out with its entry; none where something has to be replaced. */
  newAmong(documents: readonly Document[]): readonly NewListDocument[]
}

export type ModelJournal<Fact, Document extends Listed> = {
  readonly documents: ReadonlyMap<string, JournalDocument<Fact>>
  /** Each stream's entries in order. */
  readonly streams: ReadonlyMap<StreamKey, readonly Entry<Fact>[]>
  readonly lists: ReadonlyMap<string, Document>
  /** What each machine reads of the list documents. */
  readonly reads: LaggingReads<Document>
  storeOf(machine: Machine): JournalStore<Fact>
  listsOf(machine: Machine): ModelLists<Document>
  /** Number of documents of lost inserts that may still land. */
  onTheWire(): number
  /**
   * Remembers what stands now. @returns the function that brings it back; what is on the wire is lost then
   */
  backUp(): () => void
}

/**
 * Between two tries of an insert whose answer was lost, and for how long it is tried past its caller's
 * patience.
 */
const rest = { leastMs: 100, mostMs: 2000 }
const goesOnMs = 30_000
/**
 * When a document of a lost insert lands: soon, after others have judged its sender, after he has given up.
 */
const landsWithinMs = [500, 6000, 45_000] as const

/**
 * The collections of a journal and of its list documents, with the promises of libs/storage: `_id` is unique,
 * each document of an insert lands by itself, an answer may get lost, and what was on the wire then may land
 * late, also when its sender is dead. List documents that go out with entries land after them, in order, and
 * where one is there already nothing after it does. Entries and claims are read as a majority has them; list documents as
 * the machine's database shows them. `onLanded` sees each document of the journal as it becomes durable.
 */
export function createModelJournal<Fact, Document extends Listed>({
  timeline,
  random,
  faults,
  onLanded,
  onRemoved = () => undefined,
  onListed = () => undefined,
  mistake = null,
}: {
  timeline: Pick<Timeline, 'nowMs' | 'after'>
  random: Pick<Random, 'pick' | 'chance' | 'between'>
  faults: Pick<Faults, 'fair' | 'torn'>
  onLanded: (document: JournalDocument<Fact>) => void
  onRemoved?: (claim: ClaimDocument) => void
  onListed?: (before: Document | null, after: Document) => void
  mistake?: JournalMistake | null
}): ModelJournal<Fact, Document> {
  const documents = new Map<string, JournalDocument<Fact>>()
  const streams = new Map<StreamKey, readonly Entry<Fact>[]>()
  const lists = new Map<string, Document>()
  const reads = createLaggingReads(lists, timeline.nowMs)
  let wire = new Set<JournalDocument<Fact>>()

  const put = (document: JournalDocument<Fact>): void => {
    documents.set(document._id, document)
    if (!isEntry(document)) return
    const stream = streamOf(document)
    const others = streams.get(stream) ?? []
    streams.set(
      stream,
      [...others, document].toSorted((a, b) => (a._id < b._id ? -1 : 1)),
    )
  }
  const land = (document: JournalDocument<Fact>): Landed => {
    if (documents.has(document._id)) return 'present'
    put(document)
    onLanded(document)
    return 'inserted'
  }

  /** Of a lost insert each document lands at once, later or never. */
  const tear = (document: JournalDocument<Fact>): void => {
    const fate = random.pick(['now', 'late', 'never'] as const)
    if (fate === 'now') land(document)
    if (fate !== 'late') return
    const onWire = wire
    onWire.add(document)
    timeline.after(random.between(1, random.pick(landsWithinMs)), () => {
      if (onWire === wire && onWire.delete(document)) land(document)
    })
  }

  const isUnordered = mistake === 'lists go out beside their entries'
  const show = (document: Document): void => {
    const before = lists.get(document._id) ?? null
    lists.set(document._id, document)
    onListed(before, document)
  }

  /** One ordered command. @returns how many of these are inserted */
  const landInTurn = (
    sent: readonly JournalDocument<Fact>[],
    shown: readonly NewListDocument[],
  ): { readonly entries: number; readonly lists: number } => {
    const taken = sent.findIndex((document) => land(document) === 'present')
    if (taken !== -1 && !isUnordered) return { entries: taken, lists: 0 }
    const listed = shown.findIndex(({ document }) => lists.has(document._id))
    const standing = listed === -1 ? shown : shown.slice(0, listed)
    // Each is a document that this model has made.
    for (const { document } of standing) show(document as Document)
    return { entries: taken === -1 ? sent.length : taken, lists: standing.length }
  }

  /** Of a lost ordered command the first documents land at once, the others later or never. */
  const tearInTurn = (sent: readonly JournalDocument<Fact>[], shown: readonly NewListDocument[]): void => {
    const now = random.between(0, sent.length + shown.length)
    const landed = landInTurn(sent.slice(0, now), shown.slice(0, Math.max(0, now - sent.length)))
    const isWhole = landed.entries + landed.lists === now
    if (!isWhole || random.chance(1 / 2)) return
    const onWire = wire
    const [late, lateShown] = [sent.slice(now), shown.slice(Math.max(0, now - sent.length))]
    for (const document of late) onWire.add(document)
    timeline.after(random.between(1, random.pick(landsWithinMs)), () => {
      if (onWire !== wire) return
      for (const document of late) onWire.delete(document)
      landInTurn(late, lateShown)
    })
  }

  const insertOnce = async (
    machine: Machine,
    sent: readonly JournalDocument<Fact>[],
    shown: readonly NewListDocument[],
  ): Promise<readonly Landed[]> => {
    reads.wrote(machine.name)
    const isTorn = !faults.fair() && random.chance(faults.torn)
    if (isTorn) {
      await machine.io('insert entries', () =>
        shown.length === 0 ? sent.forEach(tear) : tearInTurn(sent, shown),
      )
      throw new Error('insert entries: the answer is lost')
    }
    if (shown.length === 0) return machine.io('insert entries', () => sent.map(land))
    const landed = await machine.io('insert entries and lists', () => landInTurn(sent, shown))
    for (const { inserted } of shown.slice(0, landed.lists)) inserted()
    const first = sent.slice(0, landed.entries).map(() => 'inserted' as const)
    if (first.length === sent.length) return first
    const others = await machine.io('insert entries', () => sent.slice(landed.entries).map(land))
    return [...first, ...others]
  }

  /** As the group commit does: the same bytes again until their fate is known. */
  const insert = async (
    machine: Machine,
    sent: readonly JournalDocument<Fact>[],
    untilMs: number,
    shown: readonly NewListDocument[],
  ): Promise<readonly Landed[] | 'unknown'> => {
    for (let restMs = rest.leastMs; ; restMs = Math.min(rest.mostMs, 2 * restMs)) {
      try {
        return await insertOnce(machine, sent, restMs === rest.leastMs ? shown : [])
      } catch {
        await machine.wait(restMs)
        if (timeline.nowMs() >= untilMs + goesOnMs) return 'unknown'
      }
    }
  }

  return {
    documents,
    streams,
    lists,
    reads,
    storeOf: (machine) => ({
      insert: (sent, untilMs, shown = []) => {
        const { promise, resolve } = Promise.withResolvers<readonly Landed[] | 'unknown'>()
        if (Number.isFinite(untilMs)) {
          machine.after(untilMs - timeline.nowMs(), () => resolve('unknown'))
        }
        void insert(machine, sent, untilMs, shown).then(resolve)
        return promise
      },
      readEntries: (stream) => machine.io('read entries', () => streams.get(stream) ?? []),
      read: (ids) => machine.io('read documents', () => ids.flatMap((id) => documents.get(id) ?? [])),
      readClaims: ({ above, below }, max) =>
        machine.io('read claims', () =>
          [...documents.values()]
            .filter((each): each is ClaimDocument => 's' in each && each._id > above && each._id < below)
            .toSorted((a, b) => (a._id < b._id ? 1 : -1))
            .slice(0, max),
        ),
      readWritten: (o, { after, limit }) =>
        machine.io('read written', () =>
          [...documents.values()]
            .filter((each): each is Entry<Fact> => isEntry(each) && each.o === o && each.q > after)
            .toSorted((a, b) => a.q - b.q)
            .slice(0, limit),
        ),
      removeClaim: (id, w) =>
        machine.io('remove claim', () => {
          const claim = documents.get(id)
          if (claim?.w !== w || isEntry(claim)) return
          documents.delete(id)
          onRemoved(claim)
        }),
    }),
    listsOf(machine) {
      /** The `n` at which a document stands at least, as this process has written it. */
      const known = new Map<string, number>()
      const note = ({ _id, n = 0 }: Document) => void known.set(_id, Math.max(n, known.get(_id) ?? 0))
      return {
        find: (id) => machine.io('find listed', () => reads.rows(machine.name).get(id) ?? null),
        list: (isWanted) => machine.io('list', () => [...reads.rows(machine.name).values()].filter(isWanted)),
        newAmong(documents) {
          const others = documents.filter(({ _id, n = 0 }) => (known.get(_id) ?? -1) < n)
          if (others.some(({ _id }) => known.has(_id))) return []
          return others.map((document) => ({ collection: '', document, inserted: () => note(document) }))
        },
        async write(shown) {
          await machine.io('write listed', () => {
            reads.wrote(machine.name)
            for (const document of shown) {
              const before = lists.get(document._id)
              const isOlder = before === undefined || (before.n ?? 0) < (document.n ?? 0)
              if (isOlder || mistake === 'lists are set back') show(document)
            }
          })
          shown.forEach(note)
        },
      }
    },
    onTheWire: () => wire.size,
    backUp() {
      const backup = { documents: [...documents.values()], lists: [...lists.values()] }
      return () => {
        wire = new Set()
        reads.clear()
        documents.clear()
        streams.clear()
        lists.clear()
        for (const document of backup.documents) put(document)
        for (const document of backup.lists) lists.set(document._id, document)
      }
    },
  }
}

export function isEntry<Fact>(document: JournalDocument<Fact>): document is Entry<Fact> {
  return 'f' in document
}

/** The stream of an entry. */
export function streamOf({ _id }: { readonly _id: string }): StreamKey {
  return _id.slice(0, _id.lastIndexOf('/'))
}
