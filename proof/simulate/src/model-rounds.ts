import type { Random } from '@pitboss/chaos/random'
import { scopeKey } from '@pitboss/contracts/caller'
import type { RoundState } from '@pitboss/rounds/rules/round'
import type { RoundDocument } from '@pitboss/rounds/storage/round-document'
import { createShownRounds, type RoundLists } from '@pitboss/rounds/storage/round-lists'
import { claimsOfEntry, type RoundEntry, type RoundFact } from '@pitboss/rounds/storage/round-stream'
import type { InstanceDocument } from '@pitboss/storage/journal/instances'
import type { JournalDocument } from '@pitboss/storage/journal/journal'
import type { StreamKey } from '@pitboss/storage/journal/journal-keys'
import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import type { Faults } from './faults.ts'
import { foldRound, type Row } from './fold-rounds.ts'
import type { LaggingReads } from './lagging-reads.ts'
import type { Machine } from './machine.ts'
import { createModelInstances, type ModelInstances, type SlotOf } from './model-instances.ts'
import { createModelJournal, isEntry, type ModelJournal, streamOf } from './model-journal.ts'
import { notSimulated } from './not-simulated.ts'
import type { Timeline } from './timeline.ts'
import type { JournalMistake } from './world.ts'

/** A commitment that no round has made: the first of a nonce sequence. */
export type FirstCommitment = { readonly _id: string }

export type ModelRounds = {
  /** The rounds that stand: those whose first entry and its claims are their own. */
  readonly table: ReadonlyMap<string, Row>
  readonly journal: ModelJournal<RoundFact, RoundDocument>
  readonly instances: ModelInstances
  /** What each machine reads of the lists. */
  readonly reads: LaggingReads<RoundDocument>
  readonly commitments: Map<string, FirstCommitment>
  listsOf(machine: Machine): RoundLists
  /** Rounds that are gone since the database was set back. */
  readonly lost: ReadonlyMap<string, RoundState>
  /** Events of entries that `isSent` does not know. */
  unsent(isSent: (eventId: string) => boolean): readonly RenderedEvent[]
  /**
   * Streams of rounds that do not stand yet, since not all claims are their own, and that nobody has
   * withdrawn.
   */
  unclaimed(): readonly StreamKey[]
  /** Remembers the database as it is. @returns the function that sets it back and says how many rounds */
  backUp(): () => string
}

export type RoundsWatch = {
  /** Sees every round as its change is made durable, or as its claims are. */
  readonly onWrite: (before: RoundState | null, after: RoundState) => void
  /** Sees each document of the journal that lands, and each claim that is removed. */
  readonly trace?: (line: string) => void
  readonly onListed?: (before: RoundDocument | null, after: RoundDocument) => void
  readonly onProgress?: (before: InstanceDocument, after: InstanceDocument) => void
}

/** The database of rounds: its journal, list documents, instances and first commitments. */
export function createModelRounds({
  timeline,
  random,
  faults,
  newId,
  mistake = null,
  slotOf = ({ name }) => name,
  onWrite,
  onListed = () => undefined,
  onProgress = () => undefined,
  trace = () => undefined,
}: {
  timeline: Pick<Timeline, 'nowMs' | 'after'>
  random: Pick<Random, 'pick' | 'chance' | 'between'>
  faults: Pick<Faults, 'fair' | 'torn'>
  newId: (prefix: string) => string
  mistake?: JournalMistake | null
  /** The place of a machine: another one begins there when the one before has died. */
  slotOf?: SlotOf
} & RoundsWatch): ModelRounds {
  const table = new Map<string, Row>()
  const idOf = new Map<StreamKey, string>()
  const unclaimed = new Set<StreamKey>()
  const lost = new Map<string, RoundState>()
  const commitments = new Map<string, FirstCommitment>()
  const journal = createModelJournal<RoundFact, RoundDocument>({
    ...{ timeline, random, faults, mistake },
    onListed(before, after) {
      trace(`listed ${after._id} at ${after.n}: ${after.status}`)
      onListed(before, after)
    },
    onLanded,
    onRemoved(claim) {
      trace(`removed ${claim._id} of ${claim.w}`)
      fold(claim.s)
    },
  })
  const instances = createModelInstances({ timeline, newId, slotOf, onProgress })
  const { reads } = journal

  function onLanded(document: JournalDocument<RoundFact>): void {
    const stream = isEntry(document) ? streamOf(document) : document.s
    trace(isEntry(document) ? textOf(document) : `claim ${document._id} of ${document.w}`)
    fold(stream)
  }

  /** Reads a stream once more, and shows what has changed by it. */
  function fold(stream: StreamKey, isShown = true): void {
    const entries = journal.streams.get(stream) ?? []
    const row = foldRound(entries, isOwn)
    if (row === null && foldRound(entries, () => true) !== null) unclaimed.add(stream)
    else unclaimed.delete(stream)
    if (row === null) return gone(stream)
    const before = table.get(row.round.id) ?? null
    idOf.set(stream, row.round.id)
    table.set(row.round.id, row)
    if (isShown && before?.w !== row.w) onWrite(before?.round ?? null, row.round)
  }

  function isOwn(entry: RoundEntry): boolean {
    return claimsOfEntry(entry).every(({ key }) => journal.documents.get(key)?.w === entry.w)
  }

  function gone(stream: StreamKey): void {
    table.delete(idOf.get(stream) ?? '')
    idOf.delete(stream)
  }

  return {
    table,
    journal,
    instances,
    reads,
    commitments,
    lost,
    listsOf: (machine) => roundListsOf(machine, journal),
    unsent: (isSent) =>
      [...journal.streams.values()].flatMap((entries) =>
        entries.flatMap(({ ev = [] }) => ev.filter(({ id }) => !isSent(id))),
      ),
    unclaimed: () => [...unclaimed],
    backUp() {
      const setBacks = [journal.backUp(), instances.backUp()]
      const made = new Map(commitments)
      return () => {
        const before = new Map(table)
        for (const setBack of setBacks) setBack()
        commitments.clear()
        for (const [id, one] of made) commitments.set(id, one)
        table.clear()
        idOf.clear()
        unclaimed.clear()
        for (const stream of journal.streams.keys()) fold(stream, false)
        for (const [id, { round }] of before) if (!table.has(id)) lost.set(id, round)
        return `${before.size} to ${table.size}`
      }
    },
  }
}

function textOf({ _id, w, o, q, f }: RoundEntry): string {
  return `entry ${_id}: ${f.flatMap((fact) => Object.keys(fact)).join()}, ${w} of ${o} as ${q}`
}

/** The list documents of rounds as one machine writes and reads them. Most lists are for people. */
function roundListsOf(machine: Machine, { listsOf, reads }: ModelRounds['journal']): RoundLists {
  const { find, list, write, newAmong } = listsOf(machine)
  const shown = createShownRounds({ write: (document) => write([document]), newAmong })
  const first = async (is: (document: RoundDocument) => boolean, order: Order = byId) =>
    (await list(is)).toSorted(order)[0] ?? null
  const ofSequence =
    (sequence: string, below: number | null = null) =>
    ({ chain, nonce }: RoundDocument) =>
      chain === sequence && nonce > 0 && (below === null || nonce < below)
  return {
    ...shown,
    confirmPrimary: () => machine.io('confirm primary', () => reads.wrote(machine.name)),
    async find(roundId) {
      const found = await find(roundId)
      return found === null || found.gone === true ? null : found
    },
    withIds: async (scope, ids) => [
      ...(await list(({ _id, scope: own }) => ids.includes(_id) && own === scopeKey(scope))),
    ],
    async unowned(limit, alive, which) {
      const isMeant = ({ open, owes }: RoundDocument) => open === true && (which === 'all' || owes === true)
      return (await list((one) => isMeant(one) && !alive.includes(one.o ?? ''))).slice(0, limit)
    },
    last: (sequence, below) => first(ofSequence(sequence, below), (a, b) => b.nonce - a.nonce),
    hasNonce: async (sequence, nonce) =>
      (await first((one) => one.chain === sequence && one.nonce === nonce)) !== null,
    withMovements: async (scope, ids) => [
      ...(await list(
        ({ scope: own, transactionIds }) =>
          own === scopeKey(scope) && transactionIds.some((id) => ids.includes(id)),
      )),
    ],
    openedBy: (scope, sequence, id) =>
      first(
        ({ scope: own, chain, driver, clientTransactionId }) =>
          own === scopeKey(scope) && chain === sequence && driver === 'game' && clientTransactionId === id,
      ),
    list: async (scope, { playerId, to }, { before, max }) => {
      const found = await list(
        ({ _id, scope: own, playerId: player, createdAt }) =>
          own === scopeKey(scope) &&
          player === playerId &&
          (to === undefined || createdAt <= to) &&
          (before === null || _id < before),
      )
      return found.toSorted((a, b) => byId(b, a)).slice(0, max)
    },
    olderPlaces: async () => [],
    between: notSimulated,
    listSequence: notSimulated,
    listSums: notSimulated,
    endedSince: notSimulated,
    countUnfinished: notSimulated,
    unfinished: notSimulated,
  }
}

type Order = (a: RoundDocument, b: RoundDocument) => number

function byId(a: RoundDocument, b: RoundDocument): number {
  return a._id < b._id ? -1 : 1
}
