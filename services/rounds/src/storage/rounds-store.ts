import type { Scope } from '@pitboss/contracts/caller'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { fencedWrite } from '@pitboss/storage/change-fenced'
import { createdWithin } from '@pitboss/storage/created-within'
import { insertedFirst } from '@pitboss/storage/create-once'
import { outboxIndex } from '@pitboss/storage/outbox'
import { confirmPrimary } from '@pitboss/storage/confirm-primary'
import type { Collection, Db, Filter, FindOneOptions } from 'mongodb'
import { isUnfinished, type RoundState } from '../rules/round.ts'
import { boundedRead, readMaxMs } from './bounded-read.ts'
import { createDueRounds, dueIndex } from './due-rounds.ts'
import { createLostRounds } from './lost-rounds.ts'
import { createPlayerRounds } from './player-rounds.ts'
import { decodeRefusal, refusalIndex, type RefusedRequest } from './refusals-store.ts'
import {
  decodeRound,
  openedByPage,
  openedUnder,
  pageFilter,
  playedIn,
  type RoundDocument,
  roundKey,
  type RoundWrite,
  scopeKey,
  type StoredRound,
} from './round-document.ts'
import { insertedRound, newDocument, updateOf, writtenRound } from './write-round.ts'

const epoch = new Date(0)
/** Bound of rounds that share an id, as requests of several players at one moment can. */
const siblingsMax = 50

/** The indexes; they alone make nonces, the unfinished round and the client's id unique. */
export const roundIndexes: readonly IndexDeclaration[] = [
  { key: { chain: 1, nonce: -1 }, name: 'chain_nonce', unique: true },
  {
    key: { chain: 1 },
    name: 'one_unfinished',
    unique: true,
    partialFilterExpression: { unfinished: true },
  },
  {
    key: { chain: 1, openedUnder: 1 },
    name: 'chain_opened_under',
    unique: true,
    partialFilterExpression: { openedUnder: { $gt: '' } },
  },
  { key: { scope: 1, _id: -1 }, name: 'scope_id' },
  { key: { scope: 1, playerId: 1, _id: -1 }, name: 'scope_player_id' },
  { key: { scope: 1, sessionId: 1, _id: -1 }, name: 'scope_session_id' },
  { key: { scope: 1, game: 1, _id: -1 }, name: 'scope_game_id' },
  { key: { scope: 1, transactionIds: 1 }, name: 'scope_transactions' },
  { key: { scope: 1, completedAt: 1 }, name: 'scope_completed' },
  // Hardly any round ends like this; lists of such rounds have an index of their own.
  { key: { scope: 1, _id: -1 }, name: 'scope_voided', partialFilterExpression: { status: 'VOIDED' } },
  { key: { scope: 1, _id: -1 }, name: 'scope_failed', partialFilterExpression: { status: 'FAILED' } },
  dueIndex,
  { key: { factsAt: 1 }, name: 'facts_at', partialFilterExpression: { factsAt: { $gt: epoch } } },
  outboxIndex,
  refusalIndex,
]

/** The highest nonce of a sequence (0: none), and whether its round is unfinished. */
export type LastNonce = { readonly nonce: number; readonly unfinished: boolean }

export type RoundFilters = {
  playerId?: string | undefined
  sessionId?: string | undefined
  clientTransactionId?: string | undefined
  game?: string | undefined
  status?: RoundState['status'] | undefined
  currency?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

/** The round that a player's request has opened, or its refusal. */
export type PlayedRequest =
  | { readonly stored: StoredRound }
  | { readonly refused: Omit<RefusedRequest, 'transactionId'> }

/** The store as all but the relay of the outbox use it. */
export type RoundsStore = Omit<ReturnType<typeof createRoundsStore>, 'collection'>

export function createRoundsStore({ db }: { db: Db }) {
  const rounds: Collection<RoundDocument> = db.collection('rounds')

  const findOne = async (
    filter: Filter<RoundDocument>,
    options?: FindOneOptions,
  ): Promise<StoredRound | null> => {
    const document = await rounds.findOne(filter, options)
    return document === null ? null : decodeRound(document)
  }

  return {
    collection: rounds,
    ...createDueRounds({ rounds }),
    ...createLostRounds({ rounds }),
    ...createPlayerRounds({ rounds }),

    /** Inserts a new round. Null when its sequence has an unfinished round, this nonce or this id. */
    async insert(write: RoundWrite, now: Date): Promise<StoredRound | null> {
      return (await insertedFirst(() => rounds.insertOne(newDocument(write, now))))
        ? insertedRound(write)
        : null
    },

    /** Writes a change; null when another write was first. */
    async update(stored: StoredRound, write: RoundWrite, now: Date): Promise<StoredRound | null> {
      const update = updateOf(stored, write, now)
      const isFirst = await fencedWrite(rounds, roundKey(stored.round), stored.version, update)
      return isFirst ? writtenRound(stored, write) : null
    },

    /** As `update`, but also only if no worker has claimed the round since it was read. */
    async updateUnclaimed(stored: StoredRound, write: RoundWrite, now: Date): Promise<boolean> {
      const { round, version, claims } = stored
      const { matchedCount } = await rounds.updateOne(
        { ...roundKey(round), version, ...claimedAt(claims) },
        { ...updateOf(stored, write, now), $inc: { version: 1 } },
      )
      return matchedCount === 1
    },

    /** Removes an intent whose stake was never asked for; false when a worker has touched it since. */
    async remove({ round, version, dueAt, claims }: StoredRound): Promise<boolean> {
      const unchanged = { ...roundKey(round), version, dueAt, ...claimedAt(claims) }
      const { deletedCount } = await rounds.deleteOne(unchanged)
      return deletedCount === 1
    },

    find: (scope: Scope, roundId: string) => findOne({ _id: roundId, scope: scopeKey(scope) }),
    /** Finds a round of any account. Called for operations and for late movements. */
    findAnywhere: (roundId: string) => findOne({ _id: roundId }),

    /** Rounds of every account created in the window, behind `after`, oldest first. For operations. */
    async between(
      window: { readonly from: Date; readonly to: Date },
      after: string | null,
      limit: number,
    ): Promise<StoredRound[]> {
      const { ids, createdAt } = createdWithin({ prefix: 'rnd', ...window, after })
      const documents = await rounds
        .find({ ...(ids === null ? {} : { _id: ids }), ...(createdAt === null ? {} : { createdAt }) })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray()
      return documents.map(decodeRound)
    },
    findUnfinished: (sequence: string) => findOne({ chain: sequence, unfinished: true }),

    /** What became of a player's request to play that has this id of its own: a round or a refusal. */
    async findRequest(sequence: string, transactionId: string): Promise<PlayedRequest | null> {
      const found = await rounds.findOne({ chain: sequence, openedUnder: openedUnder('game', transactionId) })
      if (found === null) return null
      const refused = decodeRefusal(found)
      return refused === null ? { stored: decodeRound(found) } : { refused }
    },

    /**
     * Rounds with a movement of this id, oldest first: hardly ever more than one. Rounds of earlier releases
     * may have been opened under it alone.
     */
    async listByTransaction(scope: Scope, transactionId: string): Promise<StoredRound[]> {
      const documents = await rounds
        .find({ scope: scopeKey(scope), transactionIds: transactionId })
        .limit(siblingsMax)
        .toArray()
      return documents.map(decodeRound).sort((a, b) => (a.round.id < b.round.id ? -1 : 1))
    },

    confirmPrimary: () => confirmPrimary(rounds),

    /** The round with the highest nonce of its sequence, which alone can be unfinished. */
    findLast: (sequence: string) => findOne(playedIn(sequence), { sort: { nonce: -1 } }),

    /** The nonce and the state of `findLast` alone. */
    async last(sequence: string): Promise<LastNonce> {
      const projection = { nonce: 1, unfinished: 1 }
      const last = await rounds.findOne(playedIn(sequence), { sort: { nonce: -1 }, projection })
      return { nonce: last?.nonce ?? 0, unfinished: last?.unfinished ?? false }
    },

    /** Ends a session for its round, if it plays one: the round becomes due at `due` at the latest. */
    async endSession(sequence: string, sessionId: string, endedAt: Date, due: Date): Promise<void> {
      await rounds.updateOne(
        {
          chain: sequence,
          unfinished: true,
          sessionId,
          status: { $in: ['PENDING', 'OPEN'] },
          driver: 'game',
          sittingEndsAt: { $gt: endedAt },
        },
        { $set: { sittingEndsAt: endedAt }, $min: { dueAt: due }, $inc: { version: 1 } },
      )
    },

    /** Newest first, by id. */
    async list(
      scope: Scope,
      filters: RoundFilters,
      { before, max }: { before: string | null; max: number },
    ): Promise<RoundState[]> {
      const { from, to, clientTransactionId: openedBy, ...equal } = filters
      const filter = {
        ...pageFilter(scope, equal, { prefix: 'rnd', from, to, before }),
        ...(openedBy === undefined ? {} : openedByPage(openedBy)),
      }
      const hint = rareIndexOf(filters)
      const found =
        hint === 'one_unfinished'
          ? rounds.find({ ...filter, unfinished: true, chain: sequencesOf(scope) })
          : rounds.find(filter)
      const sorted = (hint === null ? found : found.hint(hint)).sort({ _id: -1 }).limit(max)
      const documents = await boundedRead(() => sorted.maxTimeMS(readMaxMs).toArray())
      return documents.map((document) => decodeRound(document).round)
    },

    /** Number of the scope's rounds that have not ended. */
    async countUnfinished(scope: Scope): Promise<number> {
      const filter = { scope: scopeKey(scope), unfinished: true, chain: sequencesOf(scope) }
      return Number(await rounds.countDocuments(filter, { hint: 'one_unfinished' }))
    },

    /** The figures for `ops status`. */
    async unfinished(): Promise<{ count: number; oldestAt: Date | null }> {
      const count = await rounds.countDocuments({ unfinished: true }, { hint: 'one_unfinished' })
      const [oldest] = await rounds
        .find({ unfinished: true }, { projection: { createdAt: 1 } })
        .sort({ _id: 1 })
        .hint('one_unfinished')
        .limit(1)
        .toArray()
      return { count: Number(count), oldestAt: oldest?.createdAt ?? null }
    },
  }
}

/** The filter for a round that was claimed this often. */
function claimedAt(claims: number): Filter<RoundDocument> {
  return { claims: claims === 0 ? { $in: [0, null] } : claims }
}

/**
 * The index of rounds of all players in a state that very few of very many rounds are in, of one game, or of
 * an id; null for other lists. The database takes such an index by its name alone.
 */
function rareIndexOf(filters: RoundFilters): string | null {
  const { status, game, playerId, sessionId, clientTransactionId } = filters
  if (clientTransactionId !== undefined) return 'scope_transactions'
  if (playerId !== undefined || sessionId !== undefined) return null
  if (status !== undefined && isUnfinished({ status })) return 'one_unfinished'
  if (status === undefined || status === 'SETTLED') return game === undefined ? null : 'scope_game_id'
  return `scope_${status.toLowerCase()}`
}

/** The nonce sequences of a tenant: its scope and a slash, which "0" follows in ASCII. */
function sequencesOf(scope: Scope): { $gt: string; $lt: string } {
  return { $gt: `${scopeKey(scope)}/`, $lt: `${scopeKey(scope)}0` }
}
