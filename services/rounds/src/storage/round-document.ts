import type { Scope } from '@pitboss/contracts/caller'
import type { JsonObject } from '@pitboss/fairness/games/game'
import { createdWithin } from '@pitboss/storage/created-within'
import type { OutboxEntry, WithOutbox } from '@pitboss/storage/outbox-entry'
import type { Document } from 'mongodb'
import {
  isUnfinished,
  movementsOf,
  type ReportFact,
  type Reversal,
  type RoundState,
  type Stake,
  type TakenTrials,
  type Win,
} from '../rules/round.ts'

/**
 * The share of a change in the reports and in the watch of returns, kept with the round until the projector
 * has added it up. Amounts are minor units as text.
 */
export type FactEntry = {
  readonly id: string
  readonly rounds: number
  readonly stakes: string
  readonly payouts: string
  readonly refunds: string
  /** As of `ReportFact`; facts of earlier releases lack it. */
  readonly at?: Date
  /** The chances that the change took, and the version of the game's rules. Facts without chances lack it. */
  readonly trials?: TakenTrials & { readonly rules: string }
}

type Encoded<Part extends { minor: bigint }> = Omit<Part, 'minor'> & { minor: string }

/**
 * The round in the database. Minor units are text: a coin with 18 decimals has more of them than 64 bits
 * hold. Objects of operators and games in `bet` and `outcome` are JSON text, so that no key of theirs means
 * anything to the database.
 */
export type RoundDocument = Omit<
  RoundState,
  'id' | 'stake' | 'maxPayout' | 'winsMax' | 'payout' | 'stakes' | 'wins' | 'bet' | 'outcome'
> & {
  _id: string
  version: number
  /** `<operatorId>/<environment>`. */
  scope: string
  /** The nonce sequence of an account, environment, game and player: it has at most one unfinished round. */
  chain: string
  unfinished: boolean
  /**
   * The id of the request that opened the round, once in a nonce sequence; see `openedUnder`. Rounds of
   * earlier releases, or without an id, lack it.
   */
  openedUnder?: string
  dueAt: Date | null
  checks: number
  /** The number of claims by workers, ever. Documents of earlier releases lack it until the first claim. */
  claims?: number | null
  /** Of earlier releases, which kept refusals with the round for a while. */
  refusals?: unknown
  /** Of its movements; and see `requestMark`. */
  transactionIds: string[]
  facts: FactEntry[]
  /**
   * The place of the round among those whose facts wait: its beginning, which its outcome does not decide.
   * Null when none waits.
   */
  factsAt: Date | null
  stake: string
  maxPayout: string
  /** Absent where the wins of the round are not bounded. */
  winsMax?: string
  payout: string | null
  stakes: Encoded<Stake>[]
  wins: Encoded<Win>[]
  reversals: readonly Reversal[]
  bet: string | null
  outcome: string | null
} & WithOutbox

/**
 * A round with the fields that the store needs to change it: its version, its due time, its claims. `outbox`
 * held these entries, still to be published, when it was read.
 */
export type StoredRound = {
  readonly round: RoundState
  readonly version: number
  readonly dueAt: Date | null
  readonly checks: number
  readonly claims: number
  readonly outbox: readonly OutboxEntry[]
  /**
   * The state as its document holds it, by which a write knows what changes; without it a write sends all.
   */
  readonly fields?: RoundFields
}

/** The fields of the document that follow from the round's state. */
export type RoundFields = Readonly<Record<string, unknown>>

/** A changed round, and the entries of outbox and reports that are written together with it. */
export type RoundWrite = {
  readonly round: RoundState
  readonly dueAt: Date | null
  readonly events: readonly OutboxEntry[]
  readonly fact: (ReportFact & { id: string; rules?: string }) | null
}

export function scopeKey({ operatorId, environment }: Scope): string {
  return `${operatorId}/${environment}`
}

/** The filter for a page of a tenant's list; conditions that are undefined are left out. */
export function pageFilter(
  scope: Scope,
  equal: Readonly<Record<string, string | undefined>>,
  window: Parameters<typeof createdWithin>[0],
): Document {
  const { ids, createdAt } = createdWithin(window)
  return {
    scope: scopeKey(scope),
    ...Object.fromEntries(Object.entries(equal).filter(([, value]) => value !== undefined)),
    ...(createdAt === null ? {} : { createdAt }),
    ...(ids === null ? {} : { _id: ids }),
  }
}

/** The round's scope and nothing else of it. */
export function scopeOf({ operatorId, environment }: RoundState): Scope {
  return { operatorId, environment }
}

export function sequenceOf(round: RoundState): string {
  return sequenceKey(round, round.game, round.playerId)
}

/** The filter for the rounds of a nonce sequence, of those below a nonce. Its refusals have negative ones. */
export function playedIn(sequence: string, below: number | null = null) {
  return { chain: sequence, nonce: { $gt: 0, ...(below === null ? {} : { $lt: below }) } }
}

/** The address of the round's document. `chain` is the shard key. */
export function roundKey(round: RoundState): { _id: string; chain: string } {
  return { _id: round.id, chain: sequenceOf(round) }
}

/** The address of a document that was read. */
export function keyOf({ _id, chain }: Pick<RoundDocument, '_id' | 'chain'>): { _id: string; chain: string } {
  return { _id, chain }
}

export function sequenceKey(scope: Scope, game: string, playerId: string): string {
  return `${scopeKey(scope)}/${game}/${playerId}`
}

/** The fields of the document that follow from the round's state. */
export function encodeRound(round: RoundState) {
  const { id: _, winsMax, ...rest } = round
  return {
    ...rest,
    ...(winsMax === undefined ? {} : { winsMax: String(winsMax) }),
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

export function decodeRound(document: RoundDocument): StoredRound {
  const {
    _id,
    version,
    openedUnder: _openedUnder,
    dueAt,
    checks,
    claims,
    facts: _facts,
    factsAt: _factsAt,
    outbox,
    outboxAt: _outboxAt,
    ...fields
  } = document
  const {
    scope: _scope,
    chain: _chain,
    unfinished: _unfinished,
    transactionIds: _transactionIds,
    winsMax,
    refusals: _refusals,
    ...rest
  } = fields
  const round: RoundState = {
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
  return { round, version, dueAt, checks, claims: claims ?? 0, outbox, fields }
}

/** A stake or win with its minor units as a number. */
export function decodeMinor<Part extends { minor: string }>(
  part: Part,
): Omit<Part, 'minor'> & { minor: bigint } {
  return { ...part, minor: BigInt(part.minor) }
}

/**
 * The key of the request that opened a round, in its nonce sequence: the launcher's id, or the operator's,
 * which no launcher's id can equal.
 */
export function openedUnder(driver: RoundState['driver'], transactionId: string): string {
  return driver === 'operator' ? `=${transactionId}` : transactionId
}

/**
 * The mark, among the ids of movements, of the page's request that opened a round: no movement's id can equal
 * it.
 */
function requestMark(transactionId: string): string {
  return `=${transactionId}`
}

/**
 * The filter for rounds that page's requests have opened under an id. Those of earlier releases have it
 * without the mark.
 */
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
