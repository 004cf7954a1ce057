import type { Clock } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { type JournalOptions, openJournal, type RunningJournal } from '@pitboss/storage/journal/open-journal'
import { type Journal, reload } from '@pitboss/storage/journal/journal'
import { entryNumber, streamOf as streamOfEntry } from '@pitboss/storage/journal/journal-keys'
import type { InstanceDocument } from '@pitboss/storage/journal/instances'
import type { JournalWork } from '@pitboss/storage/journal/journal-process'
import type { Db } from 'mongodb'
import type { Registry } from 'prom-client'
import { dueAt } from '../rules/due-at.ts'
import { isUnfinished, owesSomething, type RoundState } from '../rules/round.ts'
import { createRoundWork, type RoundWork } from './due-rounds.ts'
import { decodeRound, type FactEntry, fieldsOf, type RoundFields } from './round-document.ts'
import { createRoundLists, type RoundLists } from './round-lists.ts'
import { claimsOfEntry, type RoundEntry, type RoundFact, streamOf, streamState } from './round-stream.ts'
import { appendTo, type RoundsJournal, type RoundStreams } from './round-streams.ts'
import { createRoundsStore, type RoundsStore } from './rounds-store.ts'
import { createSessionsStore, sessionStream, type SessionsStore } from './sessions-store.ts'

const pageSize = 500
const pagesMax = 20
/** Streams that are read at once. */
const readsAtOnce = 16

type Given = Omit<JournalOptions<RoundFact>, keyof JournalWork<RoundFact>> &
  Pick<RoundStreams, 'noteState'> & {
    readonly registry: Registry
    readonly db: Db
    readonly scaleMs: (ms: number) => number
  }

export async function openRounds({ db, scaleMs, noteState, ...given }: Given) {
  const { clock } = given
  const [lists, work] = [createRoundLists({ db }), createRoundWork()]
  const open: OpenSession = (session, event) => openSession(journal, session, event)
  const sessions = createSessionsStore({ db, open })
  const { options, ...wired } = wireRounds({
    ...{ lists, sessions, work, clock, scaleMs },
    own: () => ({ journal: journal.journal, rounds }),
    readInstances: () => db.collection<InstanceDocument>('journal_instances').find({}).toArray(),
  })
  const running: RunningJournal<RoundFact> = await openJournal<RoundFact>({ ...given, db, ...options })
  const journal = { ...running, ...wired }
  const rounds: RoundsStore = createRoundsStore({ journal, lists, work, noteState })
  return { journal, lists, rounds, sessions }
}

type OpenSession = Parameters<typeof createSessionsStore>[0]['open']

/** Appends a session with its event, once, and writes its document. @returns whether it is new */
export async function openSession(
  { journal, listed }: Pick<RoundsJournal, 'journal' | 'listed'>,
  ...[session, event]: Parameters<OpenSession>
): Promise<boolean> {
  const stream = sessionStream(session, session._id)
  const appended = await appendTo({ journal }, stream, 0, { facts: [{ session }], events: [event] })
  await failpoint('rounds.session-appended')
  await listed(stream, 1)
  return appended === 'appended'
}

/** What the journal does for rounds: lists, recovery and sums. */
export function wireRounds(given: {
  readonly lists: RoundLists
  readonly sessions: Pick<SessionsStore, 'show'>
  readonly work: RoundWork
  readonly clock: Clock
  readonly scaleMs: (ms: number) => number
  /** What the process has once its journal is open. */
  readonly own: () => { journal: Journal<RoundFact>; rounds: Pick<RoundsStore, 'takeOver'> }
  /** Reads the instances that have a document, with how far each is done. */
  readonly readInstances: () => Promise<readonly Pick<InstanceDocument, '_id' | 'done'>[]>
}) {
  const { lists, sessions, work, clock, scaleMs, own, readInstances } = given
  // What is owed is looked at once its instance's calls have ended.
  const dueAtOf = (round: RoundState) => dueAt(round, { now: clock.now(), checks: 1, scaleMs })
  let folds: readonly FactFold[] = []

  async function count(entries: readonly RoundEntry[], missing: readonly number[]): Promise<void> {
    const counted = await countedEntries(own().journal, entries)
    if (counted.length === 0) return
    for (const { fold, afterwards } of folds) {
      await fold(counted, missing)
      await afterwards?.()
    }
  }

  /** Reads the entries of all instances that are not known to be done, page by page. */
  async function eachUndone(
    each: (page: readonly RoundEntry[], missing: readonly number[]) => Promise<void>,
  ): Promise<void> {
    for (const { _id: o, done } of await readInstances()) {
      for (let after = done, pages = 0; pages < pagesMax; pages++) {
        const page = await own().journal.store.readWritten(o, { after, limit: pageSize })
        await each(page, gapsIn(page, after))
        if (page.length < pageSize) break
        after = page.at(-1)?.q ?? after
      }
    }
  }

  /** Counts what is not known to be done; what is counted already is left out. */
  const catchUp = () => eachUndone(count)

  async function show(entries: readonly RoundEntry[]): Promise<void> {
    const session = entries[0]?.f[0]?.session
    await (session === undefined ? lists.show(streamState(entries)) : sessions.show(session))
  }

  /** Lists what is not known to be done: after a restore lists lag. */
  const showUndone = () =>
    eachUndone(async (page) => {
      const streams = [...new Set(page.map(({ _id }) => streamOfEntry(_id)))]
      await mapBounded(streams, readsAtOnce, async (stream) => {
        await show((await reload(own().journal, stream)).entries)
      })
    })

  return {
    options: {
      list: (_stream, entries) => show(entries),
      newLists: (entries) => lists.newDocuments(streamState(entries)),
      isFinished,
      claimsOf: claimsOfEntry,
      takeOver: (stream) => own().rounds.takeOver(stream),
      async unfinished(limit, alive, which) {
        const found = await lists.unowned(limit, alive, which)
        return found.map((document) => streamOf(decodeRound(fieldsOf(document))))
      },
      forgetWork: () => work.forget(),
      duties: [{ name: 'sums', run: count }],
    } satisfies JournalWork<RoundFact>,
    dueAtOf,
    showUndone,
    sums: { by: (all: readonly FactFold[]) => void (folds = all), catchUp },
  }
}

/** Numbers after `after` and below the last entry's under which none of these stands. */
function gapsIn(entries: readonly RoundEntry[], after: number): number[] {
  const present = new Set(entries.map(({ q }) => q))
  const last = entries.at(-1)?.q ?? after
  return Array.from({ length: last - after }, (_, index) => after + 1 + index).filter((q) => !present.has(q))
}

function isFinished(entries: readonly RoundEntry[]): boolean {
  const { fields, number, claimedAt, isWithdrawn, isPlace } = streamState(entries)
  if (isWithdrawn) return true
  // Claims may be missing that the last entry was written with.
  if (number === claimedAt) return false
  if (fields === null || isPlace) return true
  const round = decodeRound(fields)
  return !isUnfinished(round) && !owesSomething(round)
}

export type CountedEntry = {
  readonly entry: RoundEntry
  readonly fields: RoundFields
  readonly facts: readonly FactEntry[]
}

export type FactFold = {
  /** Counts entries of one instance, each once. @param missing numbers at which one may still land */
  fold(counted: readonly CountedEntry[], missing: readonly number[]): Promise<void>
  /** Acts on what was counted; doing it twice changes nothing. */
  afterwards?(): Promise<void>
}

/** Reads what sums count of these entries, in their order; those that count for nothing are left out. */
export async function countedEntries(journal: Journal<RoundFact>, entries: readonly RoundEntry[]) {
  const counting = entries.flatMap((entry) => {
    const facts = entry.f.flatMap((fact) => fact.counted ?? [])
    return facts.length === 0 ? [] : [{ entry, facts }]
  })
  const found = await mapBounded(counting, readsAtOnce, async ({ entry, facts }) => {
    const fields = await fieldsAt(journal, entry)
    return fields === null ? null : { entry, fields, facts }
  })
  return found.filter((one) => one !== null)
}

/** The round as it was at an entry. Entries never change: what is remembered does, however old it is. */
async function fieldsAt(journal: Journal<RoundFact>, entry: RoundEntry): Promise<RoundFields | null> {
  const stream = streamOfEntry(entry._id)
  const number = entryNumber(entry._id)
  const remembered = journal.memory.get(stream)
  const isKnown = remembered !== undefined && remembered.last >= number
  const { entries } = isKnown ? remembered : await reload(journal, stream)
  return streamState(entries.filter(({ _id }) => entryNumber(_id) <= number)).fields
}
