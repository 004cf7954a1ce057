import type { Scope } from '@pitboss/contracts/caller'
import { standingAmong } from '@pitboss/storage/journal/claims'
import { append, type ClaimDocument, reload } from '@pitboss/storage/journal/journal'
import { claimedOwn, type StreamKey } from '@pitboss/storage/journal/journal-keys'
import { movementsOf, type RoundState } from '../rules/round.ts'
import type { CommitmentsStore } from './commitments-store.ts'
import { decodeRound, encodeRound, fieldsOf, type RoundDocument } from './round-document.ts'
import type { RoundLists } from './round-lists.ts'
import {
  bookKey,
  bookRange,
  claimsOfFact,
  isPlaceStream,
  isStreamOf,
  movementKey,
  placeStream,
  streamOf,
  type StreamState,
  streamState,
} from './round-stream.ts'
import { deadline, type RoundsJournal } from './round-streams.ts'
import type { RoundsStore } from './rounds-store.ts'

const triesMax = 12
/** More rounds of a sequence than end before their list documents stand. */
const unlistedMax = 1000

export type LostRounds = ReturnType<typeof createLostRounds>

export function createLostRounds(given: {
  readonly journal: Pick<RoundsJournal, 'journal'>
  readonly lists: RoundLists
  readonly rounds: Pick<RoundsStore, 'readNonce'>
  readonly commitments: Pick<CommitmentsStore, 'make'>
}) {
  const { lists, rounds, commitments } = given
  const { journal } = given.journal
  const { store } = journal
  return { withoutRound, findRecent, nonceIsFree, hasPlace, placesHeld, skipTo, skipNext }

  /** Of these ids, those that no round has, or has only asked for: it may be an older one after a restore. */
  async function withoutRound(scope: Scope, transactionIds: readonly string[]): Promise<string[]> {
    const [found, claimed] = await Promise.all([
      lists.withMovements(scope, transactionIds),
      store.read(transactionIds.map((id) => movementKey(scope, id))),
    ])
    const idsOfListed = async (one: RoundDocument) =>
      one.open === true ? idsIn(await stateOf(streamOf(decodeRound(fieldsOf(one))))) : one.transactionIds
    const known = new Set((await Promise.all(found.map(idsOfListed))).flat())
    const left = claimed.flatMap((one) => ('s' in one && !known.has(claimedOwn(one._id)) ? [one] : []))
    const further = await Promise.all(left.map(idsOfClaim))
    for (const id of further.flat()) known.add(id)
    return transactionIds.filter((id) => !known.has(id))
  }

  /** The movements of a claim's round. The id that a refused request has claimed is no stake's. */
  async function idsOfClaim({ _id, s }: ClaimDocument): Promise<string[]> {
    const state = await stateOf(s)
    return state.dead === null ? idsIn(state) : [claimedOwn(_id)]
  }

  /** Finds a round by the book, which has what lists may not show yet. */
  async function findRecent(sequence: string, roundId: string): Promise<RoundState | null> {
    const claims = await store.readClaims(bookRange(sequence), unlistedMax)
    const found = claims.find(({ s }) => isStreamOf(s, roundId))
    if (found === undefined) return null
    return roundIn(await stateOf(found.s))
  }

  async function stateOf(stream: StreamKey): Promise<StreamState> {
    return streamState(standingAmong(await store.readEntries(stream)))
  }

  /** Whether no round of a sequence, and no place of one that is lost, has this nonce. */
  async function nonceIsFree(sequence: string, nonce: number): Promise<boolean> {
    const reads = [store.read([bookKey(sequence, nonce)]), lists.hasNonce(sequence, nonce)] as const
    const [claims, isListed] = await Promise.all(reads)
    return claims.length === 0 && !isListed
  }

  /** Whether a place is reserved for this lost round, whose nonce nobody knows. */
  async function hasPlace(sequence: string, roundId: string): Promise<boolean> {
    const entries = standingAmong(await store.readEntries(placeStream(sequence, roundId)))
    return entries.length > 0 && !streamState(entries).isWithdrawn
  }

  /** The nonces of a sequence, from `from` to `to`, whose places are those of lost rounds. */
  async function placesHeld(sequence: string, range: { from: number; to: number }): Promise<number[]> {
    const { from, to } = range
    const between = { above: bookKey(sequence, from - 1), below: bookKey(sequence, to + 1) }
    const claims = await store.readClaims(between, to - from + 1)
    const held = claims.filter(({ s }) => isPlaceStream(s)).map(({ _id }) => Number(claimedOwn(_id)))
    return [...held, ...(await lists.olderPlaces(sequence, range))]
  }

  /** Moves a sequence beyond a lost nonce; each place is an ended round that no list shows. */
  async function skipTo(sequence: string, nonce: number, round: RoundState) {
    const last = await rounds.readNonce(sequence, nonce)
    // The last is inserted last: who finds it free does all of this again.
    for (let skipped = last + 1; skipped <= nonce; skipped++) await place(sequence, skipped, skipped, round)
  }

  /** Moves a nonce sequence beyond one more nonce, once for each lost round whose nonce nobody knows. */
  async function skipNext(sequence: string, roundId: string, round: RoundState) {
    for (let tries = 0; tries < triesMax && !(await hasPlace(sequence, roundId)); tries++) {
      const last = await rounds.readNonce(sequence, null)
      await place(sequence, roundId, last + 1, round)
    }
  }

  /** Takes a nonce for a lost round, unless a place has been taken for it or another round has the nonce. */
  async function place(chain: string, of: number | string, nonce: number, round: RoundState) {
    const stream = placeStream(chain, of)
    const { createdAt: committedAt } = round
    const next = commitments.make(chain, nonce + 1, committedAt)
    const fields = encodeRound({ ...round, nonce }, { committedAt, next })
    const base = { ...fields, _id: `lost/${of}/${chain}` }
    const fact = { base, isPlace: true } as const
    const { entries, last } = await reload(journal, stream)
    const { isPlace, isWithdrawn } = streamState(entries)
    if (isPlace && !isWithdrawn) return
    const decided = { facts: [fact], claims: claimsOfFact(fact) } as const
    await append(journal, stream, last, decided, deadline({ journal }))
  }
}

function roundIn({ fields, isWithdrawn }: StreamState): RoundState | null {
  return fields === null || isWithdrawn ? null : decodeRound(fields)
}

/** Without stakes that are only asked for. */
function idsIn(state: StreamState): string[] {
  const round = roundIn(state)
  const all = round === null ? [] : movementsOf(round)
  return all.filter(({ state }) => state !== 'ASKED').map(({ transactionId }) => transactionId)
}
