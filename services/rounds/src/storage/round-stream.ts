import { changeDocument, type DocumentChange } from '@pitboss/storage/journal/change-document'
import type { Claim, Entry, Loaded } from '@pitboss/storage/journal/journal'
import {
  claimKey,
  claimsOf,
  entryNumber,
  streamKey,
  type StreamKey,
} from '@pitboss/storage/journal/journal-keys'
import type { Scope } from '@pitboss/contracts/caller'
import type { Meaning, Refusal } from '../rules/refusal.ts'
import {
  historyMax,
  movementsOf,
  type Reversal,
  type RoundState,
  type Stake,
  type Win,
} from '../rules/round.ts'
import { decodeRound, type FactEntry, type RoundFields, sequenceOf } from './round-document.ts'
import type { NewSession } from './sessions-store.ts'

/** A request that was refused, or a movement that was rolled back before it came, in the place of a round. */
export type DeadRequest = Refusal & {
  readonly kind: 'request' | 'movement' | 'reversal'
  /** Of a page's request; null for the operator's. */
  readonly requestHash: string | null
  /** Of the operator's request; null for a page's, and for a tombstone, which is for every stake and win. */
  readonly meaning: Meaning | null
}

export type RoundFact = {
  /** The whole document: of a new round, of the place of a lost one, or of one older than the journal. */
  readonly base?: RoundFields
  readonly change?: DocumentChange
  /** Of a document that had ended before there was a journal: it claims nothing. */
  readonly isOlder?: true
  readonly ids?: readonly string[]
  readonly counted?: FactEntry
  /** From here on only this instance, or one after it, asks for what the round owes. */
  readonly adopted?: true
  /** A page was shown the commitment after this round, which is not taken back any more. */
  readonly shown?: true
  /** The round was never asked for; its nonce is the next round's. */
  readonly withdrawn?: true
  /** The place of a round that is lost: no list shows it. */
  readonly isPlace?: true
  readonly dead?: DeadRequest
  /** A session, as it was opened: the one fact of its stream. */
  readonly session?: NewSession
}

export type RoundEntry = Entry<RoundFact>

export type StreamState = {
  readonly fields: RoundFields | null
  readonly number: number
  readonly owner: string
  readonly write: string
  /** The number of the last entry that adopts the stream; 0 for none. */
  readonly adoptedAt: number
  /** The number of the last entry that has claims which it may give back. */
  readonly claimedAt: number
  readonly isWithdrawn: boolean
  readonly isPlace: boolean
  readonly dead: DeadRequest | null
}

/** Lists of a document whose first items are dropped. */
export const keep = { history: historyMax }

const nothing: StreamState = {
  ...{ fields: null, number: 0, owner: '', write: '', adoptedAt: 0, claimedAt: 0 },
  ...{ isWithdrawn: false, isPlace: false, dead: null },
}

export function streamState(entries: readonly RoundEntry[]): StreamState {
  return entries.reduce(evolve, nothing)
}

/** As `streamState`, with the number after which the stream goes on. */
export function loadedState({ entries, last }: Pick<Loaded<RoundFact>, 'entries' | 'last'>): StreamState {
  return { ...streamState(entries), number: last }
}

/** The instance that stored the intent of a stake, last where it was taken back; null for no such stake. */
export function askerOf(entries: readonly RoundEntry[], transactionId: string): string | null {
  let state = nothing
  let asker: string | null = null
  for (const entry of entries) {
    state = evolve(state, entry)
    const hasStake = state.fields?.stakes.some((stake) => stake.transactionId === transactionId) === true
    asker = hasStake ? (asker ?? entry.o) : null
  }
  return asker
}

function evolve(before: StreamState, entry: RoundEntry): StreamState {
  const number = entryNumber(entry._id)
  const written = { ...before, number, owner: entry.o, write: entry.w }
  return entry.f.reduce<StreamState>((state, fact) => {
    const { base, ids = [], adopted, withdrawn, isPlace, dead } = fact
    return {
      ...state,
      fields: base ?? changed(state.fields, fact),
      ...(adopted === true ? { adoptedAt: number } : {}),
      ...(base !== undefined || ids.length > 0 ? { claimedAt: number } : {}),
      // A place that has lost its nonce to a round takes another one.
      ...(base === undefined ? {} : { isWithdrawn: false }),
      ...(withdrawn === true ? { isWithdrawn: true } : {}),
      ...(isPlace === true ? { isPlace: true } : {}),
      ...(dead === undefined ? {} : { dead }),
    }
  }, written)
}

function changed(fields: RoundFields | null, { change }: RoundFact): RoundFields | null {
  if (fields === null || change === undefined) return fields
  // A change of a round's fields makes a round's fields.
  return changeDocument(fields, change, keep) as RoundFields
}

const nonceDigits = 10
const ownCharacters = 8

/** The parts of a nonce sequence. A player's id may hold any character, the other parts hold no slash. */
function chainOf(sequence: string): readonly string[] {
  const [operatorId = '', environment = '', game = '', ...player] = sequence.split('/')
  return [operatorId, environment, game, player.join('/')]
}

function nonceText(nonce: number): string {
  return String(nonce).padStart(nonceDigits, '0')
}

/** The stream of a round: the book says whose its nonce is, and no two rounds share an entry's key. */
export function streamOf(
  round: Pick<RoundState, 'id' | 'nonce'> & Parameters<typeof sequenceOf>[0],
): StreamKey {
  const own = round.id.slice(-ownCharacters)
  return streamKey(...chainOf(sequenceOf(round)), nonceText(round.nonce), own)
}

/** Whether a stream of the round's own nonce sequence is the round's. */
export function isStreamOf(stream: StreamKey, roundId: string): boolean {
  return stream.endsWith(`/${roundId.slice(-ownCharacters)}`) && !isPlaceStream(stream)
}

/** The stream of the place of a lost round. @param of its nonce, or the id of a round of unknown nonce */
export function placeStream(sequence: string, of: number | string): StreamKey {
  return streamKey(...chainOf(sequence), 'lost', String(of))
}

export function isPlaceStream(stream: StreamKey): boolean {
  return stream.split('/')[5] === 'lost'
}

/** The stream of a request that is dead. @param own a text that no other has */
export function deadStream(owner: string, own: string): StreamKey {
  return streamKey(...owner.split('/'), 'dead', own)
}

export const bookKind = 'n'
export const idKind = 't'
/** The kind of claims of reversals whose id is that of a tombstone. */
const besideTombstoneKind = 'r'

export function bookRange(sequence: string) {
  return claimsOf(bookKind, chainOf(sequence))
}

export function bookKey(sequence: string, nonce: number): string {
  return claimKey(bookKind, chainOf(sequence), nonceText(nonce))
}

/** The key of a page's request, which has an id of its own. */
export function requestKey(sequence: string, transactionId: string): string {
  return claimKey(idKind, chainOf(sequence), transactionId)
}

export function movementKey({ operatorId, environment }: Scope, transactionId: string): string {
  return claimKey(idKind, [operatorId, environment], transactionId)
}

export function besideTombstoneKey({ operatorId, environment }: Scope, transactionId: string): string {
  return claimKey(besideTombstoneKind, [operatorId, environment], transactionId)
}

export function claimsOfEntry({ f }: RoundEntry): readonly Claim[] {
  return f.flatMap((fact) => claimsOfFact(fact))
}

export function claimsOfFact({ base, isOlder, ids = [] }: RoundFact): readonly Claim[] {
  if (base === undefined) return ids.map((key) => ({ key }))
  return isOlder === true ? [] : bookClaims(base)
}

function bookClaims(base: RoundFields): readonly Claim[] {
  const round = decodeRound(base)
  const sequence = sequenceOf(round)
  const nonce = {
    key: bookKey(sequence, round.nonce),
    fields: { h: round.serverSeedHash, ca: base.committedAt },
  }
  const { driver, clientTransactionId: id } = round
  if (driver === 'game') return id === null ? [nonce] : [nonce, { key: requestKey(sequence, id) }]
  const ids = movementsOf(round).map(({ transactionId }) => transactionId)
  return [nonce, ...ids.map((each) => ({ key: movementKey(round, each) }))]
}

export function addedMovements(before: RoundState, after: RoundState): readonly (Stake | Win | Reversal)[] {
  if (after.driver !== 'operator') return []
  const known = new Set(movementsOf(before).map(({ transactionId }) => transactionId))
  return movementsOf(after).filter(({ transactionId }) => !known.has(transactionId))
}
