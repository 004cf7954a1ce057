import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { JsonObject } from '@pitboss/fairness/games/game'
import { createdFilter, definedOf } from '@pitboss/storage/created-within'
import type { StreamKey } from '@pitboss/storage/journal/journal-keys'
import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import { type Packed, unpackOthers } from '@pitboss/storage/packed'
import type { Document } from 'mongodb'
import type { Commitment } from '../rules/new-round.ts'
import {
  isUnfinished,
  type Moved,
  movementsOf,
  type ReportFact,
  type Reversal,
  type RoundState,
  type Stake,
  type TakenTrials,
  type Win,
} from '../rules/round.ts'

/** The share of a change in reports and the watch of returns. Minor units as text. */
export type FactEntry = Moved<string> & {
  readonly id: string
  readonly rounds: number
  /** As of `ReportFact`; facts of earlier releases lack it. */
  readonly at?: Date
  /** The chances that the change took, and the version of the game's rules. Facts without chances lack it. */
  readonly trials?: TakenTrials & { readonly rules: string }
}

type Encoded<Part extends { minor: bigint }> = Omit<Part, 'minor'> & { minor: string }

/** The sealed seed of a nonce and its hash, and when they were made, which is before the hash was shown. */
export type DatedCommitment = Omit<Commitment, 'nonce'> & { readonly createdAt: Date }

/**
 * The fields of a round in the database. Minor units are text: a coin with 18 decimals overflows 64 bits.
 * `bet` and `outcome` are JSON text, so that no key of theirs means anything to the database.
 */
export type RoundFields = Omit<
  RoundState,
  'id' | 'stake' | 'maxPayout' | 'winsMax' | 'payout' | 'stakes' | 'wins' | 'bet' | 'outcome'
> & {
  readonly _id: string
  /** `<operatorId>/<environment>`. */
  readonly scope: string
  /** The nonce sequence of an account, environment, game and player: it has at most one unfinished round. */
  readonly chain: string
  readonly unfinished: boolean
  readonly transactionIds: readonly string[]
  readonly stake: string
  readonly maxPayout: string
  readonly winsMax?: string
  readonly payout: string | null
  readonly stakes: readonly Encoded<Stake>[]
  readonly wins: readonly Encoded<Win>[]
  readonly reversals: readonly Reversal[]
  readonly bet: string | null
  readonly outcome: string | null
  /** When the commitment of this nonce was made; absent in rounds older than the journal. */
  readonly committedAt?: Date
  /** The next nonce's commitment, made with the round; absent in rounds older than the journal. */
  readonly next?: DatedCommitment
}

/** What lists show of a round. Documents without `n` are older than the journal. */
export type RoundDocument = RoundFields & {
  /** The number of the last entry that it shows, that entry's write, and the instance that wrote it. */
  readonly n?: number
  readonly w?: string
  readonly o?: string
  readonly open?: boolean
  /** Set while a worker has to come back to it; an open round without it waits for its player. */
  readonly owes?: true
  /** Of a round that was taken back: it has only this, `chain` and `n`, so that no list finds it. */
  readonly gone?: true
}

const plainFields = [
  ...(['_id', 'n', 'o', 'open', 'owes', 'gone', 'scope', 'chain', 'nonce', 'status', 'unfinished'] as const),
  ...(['driver', 'playerId', 'sessionId', 'game', 'brandId', 'currency', 'createdAt'] as const),
  ...(['completedAt', 'started', 'transactionIds', 'clientTransactionId', 'freeBet'] as const),
  ...(['stake', 'payout', 'stakes', 'wins'] as const),
]
type PlainField = (typeof plainFields)[number]

/** Documents of rounds are found, sorted and added up only by these. */
export const plainRoundFields: ReadonlySet<PlainField> = new Set(plainFields)

export type PackedRound = Packed<RoundDocument, PlainField>

export function roundOf(stored: PackedRound): RoundDocument {
  return unpackOthers<RoundDocument>(stored)
}

/** A round as read or written last; `version` is 0 for an ended one older than the journal. */
export type StoredRound = {
  readonly round: RoundState
  readonly stream: StreamKey
  readonly version: number
  /** When a worker looks again, and how often one has since the last change. */
  readonly dueAt: Date | null
  readonly checks: number
  /** The number of the last entry with which a worker took it over. */
  readonly claims: number
  readonly fields: RoundFields
}

export type RoundWrite = {
  readonly round: RoundState
  readonly dueAt: Date | null
  readonly events: readonly RenderedEvent[]
  readonly fact: (ReportFact & { id: string; rules?: string }) | null
}

/** The place of a page in a list whose newest come first, and the number of its items. */
export type PageBounds = { readonly before: string | null; readonly max: number }

/** The filters of a list, and the window in which its items were created. */
export type Filters<Name extends string> = { readonly [Each in Name]?: string | undefined } & {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/** The filter for a page of a tenant's list; conditions that are undefined are left out. */
export function pageFilter(
  scope: Scope,
  equal: Readonly<Record<string, string | undefined>>,
  window: Parameters<typeof createdFilter>[0],
): Document {
  return { scope: scopeKey(scope), ...definedOf(equal), ...createdFilter(window) }
}

export function sequenceOf(round: RoundState): string {
  return sequenceKey(round, round.game, round.playerId)
}

/** The rounds of a sequence, below a nonce; refusals of earlier releases have negative ones. */
export function playedIn(sequence: string, below: number | null = null) {
  return { chain: sequence, nonce: { $gt: 0, ...(below === null ? {} : { $lt: below }) } }
}

export function sequenceKey(scope: Scope, game: string, playerId: string): string {
  return `${scopeKey(scope)}/${game}/${playerId}`
}

type Committed = Pick<RoundFields, 'committedAt' | 'next'>

export function encodeRound(round: RoundState, more: Committed = {}): RoundFields {
  const { id, winsMax, ...rest } = round
  const { committedAt, next } = more
  return {
    ...rest,
    _id: id,
    ...(winsMax === undefined ? {} : { winsMax: String(winsMax) }),
    ...(committedAt === undefined ? {} : { committedAt }),
    ...(next === undefined ? {} : { next }),
    scope: scopeKey(round),
    chain: sequenceOf(round),
    unfinished: isUnfinished(round),
    transactionIds: transactionIds(round),
    stake: String(round.stake),
    maxPayout: String(round.maxPayout),
    payout: round.payout === null ? null : String(round.payout),
    stakes: round.stakes.map((one) => ({ ...one, minor: String(one.minor) })),
    wins: round.wins.map((one) => ({ ...one, minor: String(one.minor) })),
    bet: round.bet === null ? null : JSON.stringify(round.bet),
    outcome: round.outcome === null ? null : JSON.stringify(round.outcome),
  }
}

export function decodeRound({
  _id,
  scope: _scope,
  chain: _chain,
  unfinished: _unfinished,
  transactionIds: _transactionIds,
  committedAt: _committedAt,
  next: _next,
  winsMax,
  ...rest
}: RoundFields): RoundState {
  return {
    ...rest,
    id: _id,
    stake: BigInt(rest.stake),
    maxPayout: BigInt(rest.maxPayout),
    ...(winsMax === undefined ? {} : { winsMax: BigInt(winsMax) }),
    payout: rest.payout === null ? null : BigInt(rest.payout),
    stakes: rest.stakes.map(decodeMinor),
    wins: rest.wins.map(decodeMinor),
    bet: parseObject(rest.bet),
    outcome: parseObject(rest.outcome),
  }
}

/** Fields that documents have beside those of their round; all but five are of earlier releases. */
const beside = [
  ...['n', 'w', 'o', 'open', 'owes', 'version', 'openedUnder', 'dueAt', 'checks', 'claims', 'refusals'],
  ...['facts', 'factsAt', 'outbox', 'outboxAt'],
]

export function fieldsOf(document: RoundDocument): RoundFields {
  const own = Object.entries(document).filter(([name]) => !beside.includes(name))
  // What is left has the type of a document without these names.
  return Object.fromEntries(own) as unknown as RoundFields
}

export function decodeMinor<Part extends { minor: string }>(
  part: Part,
): Omit<Part, 'minor'> & { minor: bigint } {
  return { ...part, minor: BigInt(part.minor) }
}

/** Marks a page's request among the ids of movements; no movement's id equals it. */
function requestMark(transactionId: string): string {
  return `=${transactionId}`
}

/** Rounds opened by pages' requests under an id; without the mark in earlier releases. */
export function openedByPage(transactionId: string): Document {
  return {
    transactionIds: { $in: [requestMark(transactionId), transactionId] },
    ...{ driver: 'game', clientTransactionId: transactionId },
  }
}

function transactionIds(round: RoundState): string[] {
  const ids = movementsOf(round).map(({ transactionId }) => transactionId)
  const { driver, clientTransactionId: id } = round
  return driver === 'game' && id !== null ? [...ids, requestMark(id)] : ids
}

function parseObject(text: string | null): JsonObject | null {
  return text === null ? null : JSON.parse(text)
}
