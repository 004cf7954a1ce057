import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { readToEnd } from '@pitboss/storage/bounded-read'
import { confirmPrimary } from '@pitboss/storage/confirm-primary'
import { createdFilter } from '@pitboss/storage/created-within'
import { type IndexDeclaration, partialIndex } from '@pitboss/storage/ensure-indexes'
import { createGroupFind, findByIds } from '@pitboss/storage/group-find'
import { createListDocuments, type NewListDocument } from '@pitboss/storage/journal/list-documents'
import type { Unfinished } from '@pitboss/storage/journal/take-overs'
import type { Db, Document } from 'mongodb'
import { isUnfinished, owesSomething, type RoundState } from '../rules/round.ts'
import {
  decodeMinor,
  decodeRound,
  fieldsOf,
  type Filters,
  openedByPage,
  type PackedRound,
  type PageBounds,
  pageFilter,
  plainRoundFields,
  playedIn,
  type RoundDocument,
  roundOf,
} from './round-document.ts'
import type { StreamState } from './round-stream.ts'

/** More rounds of an account than end in one millisecond. */
const sameInstantMax = 1000
/** Bound of rounds that share an id, as requests of several players could in earlier releases. */
const siblingsMax = 50
const listedMax = 20_000

const epoch = new Date(0)
const retired = true
const openedUnder = { openedUnder: { $gt: '' } }
const isSet = (field: string) => ({ partialFilterExpression: { [field]: { $gt: epoch } } })

/** Indexes of releases before the journal. The unique ones would refuse list documents. */
export const olderRoundIndexes: readonly IndexDeclaration[] = [
  { key: { chain: 1, nonce: -1 }, name: 'chain_nonce', unique: true, retired },
  { ...partialIndex('one_unfinished', { chain: 1 }, { unfinished: true }), unique: true, retired },
  { ...partialIndex('chain_opened_under', { chain: 1, openedUnder: 1 }, openedUnder), unique: true, retired },
  { key: { scope: 1, dueAt: 1 }, name: 'scope_due', retired, ...isSet('dueAt') },
  { key: { outboxAt: 1 }, name: 'outbox_at', retired, ...isSet('outboxAt') },
  { key: { factsAt: 1 }, name: 'facts_at', retired, ...isSet('factsAt') },
  { key: { forgetAt: 1 }, name: 'forget_at', retired, expireAfterSeconds: 0, ...isSet('forgetAt') },
]

/** The indexes of lists: each holds only what a list is read by. */
export const roundIndexes: readonly IndexDeclaration[] = [
  ...olderRoundIndexes,
  { key: { chain: 1, nonce: -1 }, name: 'sequence' },
  { key: { scope: 1, _id: -1 }, name: 'scope_id' },
  { key: { scope: 1, playerId: 1, _id: -1 }, name: 'scope_player_id' },
  { key: { scope: 1, sessionId: 1, _id: -1 }, name: 'scope_session_id' },
  { key: { scope: 1, game: 1, _id: -1 }, name: 'scope_game_id' },
  { key: { scope: 1, transactionIds: 1 }, name: 'scope_transactions' },
  { key: { scope: 1, completedAt: 1 }, name: 'scope_completed' },
  // Hardly any round is or ends like this; lists of such rounds have an index of their own.
  { key: { scope: 1, _id: -1 }, name: 'scope_unfinished', partialFilterExpression: { unfinished: true } },
  { key: { scope: 1, _id: -1 }, name: 'scope_voided', partialFilterExpression: { status: 'VOIDED' } },
  { key: { scope: 1, _id: -1 }, name: 'scope_failed', partialFilterExpression: { status: 'FAILED' } },
  { key: { open: 1, o: 1 }, name: 'open', partialFilterExpression: { open: true } },
]

export type RoundFilters = Filters<'playerId' | 'sessionId' | 'clientTransactionId' | 'game' | 'currency'> & {
  readonly status?: RoundState['status'] | undefined
}

export type RoundSums = Pick<RoundState, 'currency' | 'started' | 'completedAt' | 'stakes' | 'wins'>

export type RoundLists = ReturnType<typeof createRoundLists>

/** List documents. They decide only that a round is unknown, and what rounds older than the journal were. */
export function createRoundLists({ db }: { db: Db }) {
  const rounds = db.collection<PackedRound>('rounds')
  const documents = createListDocuments(rounds, { plain: plainRoundFields, shardKey: ['chain'] })
  const shown = createShownRounds(documents)
  const findTogether = createGroupFind<PackedRound>((ids) => findByIds(rounds, ids))
  /** By scope and movement, parted by a space: what is asked for of one account goes out together. */
  const findMoved = createGroupFind<{ readonly _id: string; readonly documents: readonly PackedRound[] }>(
    async (keys) => {
      const scopes = Map.groupBy(keys, (key) => key.slice(0, key.indexOf(' ')))
      const found = [...scopes].map(async ([scope, ofScope]) => {
        const ids = ofScope.map((key) => key.slice(scope.length + 1))
        const documents = await rounds
          .find({ scope, transactionIds: { $in: ids } })
          .limit(siblingsMax * ids.length)
          .toArray()
        const of = (id: string) => documents.filter(({ transactionIds }) => transactionIds.includes(id))
        return ids.map((id) => ({ _id: `${scope} ${id}`, documents: of(id) }))
      })
      return (await Promise.all(found)).flat()
    },
  )

  return {
    ...shown,

    confirmPrimary: () => confirmPrimary(rounds),

    async find(roundId: string): Promise<RoundDocument | null> {
      const found = await findTogether(roundId)
      return found === null || found.gone === true ? null : roundOf(found)
    },

    /** The documents of these rounds, whose number the caller bounds. */
    withIds: (scope: Scope, roundIds: readonly string[]) =>
      rounds
        .find({ _id: { $in: [...roundIds] }, scope: scopeKey(scope) })
        .map(roundOf)
        .toArray(),

    /** Documents that are open, or owe something, and show an owner that is not among `alive`. */
    unowned: (limit: number, alive: readonly string[], which: Unfinished) =>
      rounds
        .find({ open: true, o: { $nin: [...alive] }, ...(which === 'owed' ? { owes: true } : {}) })
        .hint('open')
        .limit(limit)
        .map(roundOf)
        .toArray(),

    last: (sequence: string, below: number | null = null) =>
      one(rounds.findOne(playedIn(sequence, below), { sort: { nonce: -1 } })),

    async hasNonce(sequence: string, nonce: number): Promise<boolean> {
      return (await rounds.findOne({ chain: sequence, nonce }, { projection: { _id: 1 } })) !== null
    },

    /** Documents of rounds with a movement of one of these ids; of each id at most 50. */
    async withMovements(scope: Scope, ids: readonly string[]): Promise<RoundDocument[]> {
      const found = await Promise.all(ids.map((id) => findMoved(`${scopeKey(scope)} ${id}`)))
      const documents = found.flatMap((one) => one?.documents ?? [])
      return [...new Map(documents.map((document) => [document._id, roundOf(document)])).values()]
    },

    openedBy: (scope: Scope, sequence: string, id: string) =>
      one(rounds.findOne({ scope: scopeKey(scope), chain: sequence, ...openedByPage(id) })),

    /** Rounds of every account created in the window, after `after`, oldest first. For operations. */
    between(window: { readonly from: Date; readonly to: Date }, after: string | null, limit: number) {
      return rounds
        .find(createdFilter({ prefix: 'rnd', ...window, after }), { sort: { _id: 1 }, limit })
        .map(roundOf)
        .toArray()
    },

    list(scope: Scope, filters: RoundFilters, { before, max }: PageBounds) {
      const { from, to, clientTransactionId: openedBy, ...equal } = filters
      const hint = rareIndexOf(filters)
      const filter = {
        ...pageFilter(scope, equal, { prefix: 'rnd', from, to, before }),
        ...(openedBy === undefined ? {} : openedByPage(openedBy)),
        ...(hint === 'scope_unfinished' ? { unfinished: true } : {}),
      }
      const found = rounds.find(filter, { sort: { _id: -1 }, limit: max, ...(hint === null ? {} : { hint }) })
      return readToEnd(found.map(roundOf))
    },

    listSequence: (sequence: string, { below, max }: { below: number | null; max: number }) =>
      readToEnd(
        rounds
          .find(
            // A place that an earlier release has kept has no scope.
            { ...playedIn(sequence, below), scope: { $gt: '' } },
            { sort: { nonce: -1 }, hint: 'sequence', limit: max },
          )
          .map(roundOf),
      ),

    /** The nonces of a sequence, from `from` to `to`, whose places an earlier release has kept. */
    olderPlaces(sequence: string, { from, to }: { from: number; to: number }): Promise<number[]> {
      const filter: Document = { chain: sequence, nonce: { $gte: from, $lte: to }, scope: { $exists: false } }
      const found = rounds.find(filter, { projection: { nonce: 1 }, hint: 'sequence', limit: to - from + 1 })
      return readToEnd(found.map(({ nonce }) => nonce))
    },

    listSums(scope: Scope, playerId: string, { from, max }: { from: Date; max: number }) {
      const filter = pageFilter(scope, { playerId }, { prefix: 'rnd', from })
      const projection = { currency: 1, started: 1, completedAt: 1, stakes: 1, wins: 1 }
      const found = rounds.find(filter, { projection, sort: { _id: -1 }, limit: max })
      return readToEnd(
        found.map(
          ({ stakes, wins, ...rest }): RoundSums => ({
            ...rest,
            ...{ stakes: stakes.map(decodeMinor), wins: wins.map(decodeMinor) },
          }),
        ),
      )
    },

    /** Rounds that ended at `from` or later, by their end, after the one that is named. */
    async endedSince(
      scope: Scope,
      from: Date,
      { after, max }: { after: { readonly at: Date; readonly id: string } | null; max: number },
    ): Promise<RoundState[]> {
      const start = after?.at ?? from
      const limit = after === null ? max : max + sameInstantMax
      const found = rounds.find(
        { scope: scopeKey(scope), completedAt: { $gte: start } },
        { sort: { completedAt: 1, _id: 1 }, hint: 'scope_completed', limit },
      )
      const ended = await found.map((document) => decodeRound(fieldsOf(roundOf(document)))).toArray()
      const isLater = ({ id, completedAt }: RoundState) =>
        after === null || completedAt?.getTime() !== start.getTime() || id > after.id
      return ended.filter(isLater).slice(0, max)
    },

    async countUnfinished(scope: Scope): Promise<number> {
      const filter = { scope: scopeKey(scope), unfinished: true }
      return Number(await rounds.countDocuments(filter, { hint: 'scope_unfinished' }))
    },

    async unfinished(): Promise<{ count: number; oldestAt: Date | null }> {
      const hint = 'scope_unfinished'
      const count = await rounds.countDocuments({ unfinished: true }, { hint })
      const first = { projection: { createdAt: 1 }, sort: { _id: 1 }, hint } as const
      const oldest = await rounds.findOne({ unfinished: true }, first)
      return { count: Number(count), oldestAt: oldest?.createdAt ?? null }
    },
  }
}

async function one(found: Promise<PackedRound | null>): Promise<RoundDocument | null> {
  const stored = await found
  return stored === null ? null : roundOf(stored)
}

type ShownRound = RoundDocument & { readonly n: number }

export function createShownRounds(documents: {
  readonly write: (document: ShownRound) => Promise<void>
  readonly newAmong: (documents: readonly ShownRound[]) => readonly NewListDocument[]
}) {
  const listed = new BoundedMap<string, RoundState['status']>(listedMax)
  return {
    /** Writes what entries come to. A withdrawn round's document is emptied, against late writes. */
    async show(state: StreamState): Promise<void> {
      const { fields, number, isWithdrawn, isPlace } = state
      const shown = shownRound(state)
      if (shown !== null) {
        await documents.write(shown)
        listed.set(shown._id, shown.status)
      } else if (fields !== null && isWithdrawn && !isPlace) {
        const gone = { _id: fields._id, chain: fields.chain, n: number, gone: true } as const
        // No reader but `find` meets it, which passes over it.
        await documents.write(gone as unknown as ShownRound)
      }
    },

    /** What `show` would write, where the round is over and has no document yet. */
    newDocuments(state: StreamState): readonly NewListDocument[] {
      const shown = shownRound(state)
      if (shown === null || shown.open === true) return []
      return documents.newAmong([shown]).map((one) => ({
        ...one,
        inserted() {
          one.inserted()
          listed.set(shown._id, shown.status)
        },
      }))
    },

    /** The status of the round's document, as this process has written it; null where it has not. */
    listedStatus: (roundId: string) => listed.get(roundId) ?? null,
  }
}

/** A round as lists show it; null where they show none. */
function shownRound(state: StreamState): ShownRound | null {
  const { fields, number, write, owner, isWithdrawn, isPlace } = state
  if (fields === null || isWithdrawn || isPlace) return null
  const round = decodeRound(fields)
  const owes = owesSomething(round)
  const open = isUnfinished(round) || owes
  return { ...fields, n: number, w: write, o: owner, open, ...(owes ? { owes } : {}) }
}

/** The index of a list of few among very many rounds; null for others. The database takes it only by name. */
function rareIndexOf(filters: RoundFilters): string | null {
  const { status, game, playerId, sessionId, clientTransactionId } = filters
  if (clientTransactionId !== undefined) return 'scope_transactions'
  if (playerId !== undefined || sessionId !== undefined) return null
  if (status !== undefined && isUnfinished({ status })) return 'scope_unfinished'
  if (status === undefined || status === 'SETTLED') return game === undefined ? null : 'scope_game_id'
  return `scope_${status.toLowerCase()}`
}
