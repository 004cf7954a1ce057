import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { changeBetween } from '@pitboss/storage/journal/change-document'
import { append, type Decided, load } from '@pitboss/storage/journal/journal'
import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import type { Reversal, RoundState, Stake, Win } from '../rules/round.ts'
import {
  type DatedCommitment,
  encodeRound,
  type FactEntry,
  type RoundFields,
  type RoundWrite,
  sequenceOf,
  type StoredRound,
} from './round-document.ts'
import {
  addedMovements,
  besideTombstoneKey,
  claimsOfEntry,
  claimsOfFact,
  type DeadRequest,
  deadStream,
  keep,
  movementKey,
  requestKey,
  type RoundFact,
  streamOf,
} from './round-stream.ts'
import {
  appendTo,
  deadline,
  findAnywhere,
  findClaimed,
  goOn,
  meet,
  noteRound,
  type RoundStreams,
  showRound,
  unanswered,
} from './round-streams.ts'

/** An id that the operator's server sends belongs to something else. */
export class IdTaken extends Error {
  override readonly name = 'IdTaken'
}

/** Stores a new round. Null when another has its nonce or its id. */
export async function insertRound(
  streams: RoundStreams,
  { round, dueAt }: Pick<RoundWrite, 'round' | 'dueAt'>,
  commitments: { readonly committedAt: Date; readonly next: DatedCommitment },
): Promise<StoredRound | null> {
  const base = encodeRound(round, commitments)
  const stream = streamOf(round)
  const fact = { base }
  const decided = { facts: [fact], claims: claimsOfFact(fact) } as const
  const appended = await appendTo(streams, stream, 0, decided)
  // The round that ended last is not the sequence's last any more, even if another has this nonce.
  streams.ends.delete(sequenceOf(round))
  if (appended !== 'appended') return null
  streams.noteState(null, round)
  return noteRound(streams, { round, stream, version: 1, dueAt, checks: 0, claims: 0, fields: base })
}

/** Appends a change; null when another entry was first. @throws IdTaken for an added movement */
export async function updateRound(streams: RoundStreams, stored: StoredRound, write: RoundWrite) {
  const { stream, version } = stored
  const { fields, fact } = await changeOf(streams, stored, write)
  const decided = { facts: [fact], events: write.events, claims: claimsOfFact(fact) } as const
  const appended = await appendTo(streams, stream, version, decided)
  if (appended === 'taken') return null
  if (appended === 'claimed') throw new IdTaken(`an id of ${stream} is taken`)
  return written(streams, stored, write, fields)
}

/** Takes back an intended movement and frees its claims; false when another entry was first. */
export async function withdrawMovement(streams: RoundStreams, stored: StoredRound, write: RoundWrite) {
  const { stream, version, fields: before } = stored
  const { fields, fact } = await changeOf(streams, stored, write)
  const gone = before.transactionIds
    .filter((id) => !fields.transactionIds.includes(id))
    .flatMap((id) => [movementKey(stored.round, id), besideTombstoneKey(stored.round, id)])
  const { entries } = await load(streams.journal, stream)
  const intent = entries.findLast(({ f }) => f.some(({ ids = [] }) => ids.some((id) => gone.includes(id))))
  const decided: Decided<RoundFact> = {
    ...{ facts: [fact], events: write.events },
    ...(intent === undefined ? {} : { withdraws: { entry: intent, claims: claimsOfEntry(intent) } }),
  }
  if ((await appendTo(streams, stream, version, decided)) !== 'appended') return false
  written(streams, stored, write, fields)
  return true
}

/** Takes back a round whose stake was never asked for; false when anybody has touched it since. */
export async function removeRound(streams: RoundStreams, { stream, version, round }: StoredRound) {
  const { journal, work, lists } = streams
  const { entries } = await load(journal, stream)
  const [intent] = entries
  if (intent === undefined) return false
  const withdraws = { entry: intent, claims: claimsOfEntry(intent) }
  const decided = { facts: [{ withdrawn: true }], withdraws } as const
  const appended = await append(journal, stream, version, decided, deadline(streams))
  if (appended.kind !== 'appended') return false
  meet(streams, round.id, { stream, number: version + 1, status: null })
  work.drop(round.id)
  if (lists.listedStatus(round.id) !== null) await showRound(streams, round.id)
  return true
}

export async function publishAgain(streams: RoundStreams, stored: StoredRound, event: RenderedEvent) {
  const { id, status } = stored.round
  for (let current: StoredRound | null = stored; current !== null; ) {
    const { stream, version, fields } = current
    const fact = version === 0 ? { base: fields, isOlder: true as const } : { change: {} }
    const decided: Decided<RoundFact> = { facts: [fact], events: [{ ...event, again: true }] }
    const appended = await appendTo(streams, stream, version, decided)
    if (appended === 'appended') return goOn(streams, current)
    if (appended !== 'taken') throw unanswered(stream)
    meet(streams, id, { stream, number: version + 1, status })
    current = await findAnywhere(streams, id)
  }
}

/** What an update records: a round that is older than the journal enters it whole. */
async function changeOf(streams: RoundStreams, stored: StoredRound, { round, fact: counted }: RoundWrite) {
  const fields = encodeRound(round, stored.fields)
  const added = addedMovements(stored.round, round)
  const ids = await Promise.all(added.map((movement) => addedKey(streams, round, movement)))
  const fact: RoundFact = {
    ...(stored.version === 0
      ? { base: fields, isOlder: true as const }
      : { change: changeBetween(stored.fields, fields, keep) }),
    ...(ids.length === 0 ? {} : { ids }),
    ...(counted === null ? {} : { counted: factEntry(counted) }),
  }
  return { fields, fact }
}

/** The key under which an added movement claims its id. A tombstone leaves its id to what gives back. */
async function addedKey(streams: RoundStreams, round: RoundState, movement: Stake | Win | Reversal) {
  const key = movementKey(round, movement.transactionId)
  if (!('referenceTransactionId' in movement)) return key
  const claimed = await findClaimed(streams, key)
  const isTombstone = claimed !== null && 'dead' in claimed && claimed.dead.meaning === null
  return isTombstone ? besideTombstoneKey(round, movement.transactionId) : key
}

function written(streams: RoundStreams, stored: StoredRound, write: RoundWrite, fields: RoundFields) {
  const { round, dueAt } = write
  streams.noteState(stored.round, round)
  return noteRound(streams, { ...stored, round, fields, version: stored.version + 1, dueAt, checks: 0 })
}

function factEntry({ at, trials, rules = '', ...fact }: NonNullable<RoundWrite['fact']>): FactEntry {
  const { id, rounds, stakes, payouts, refunds } = fact
  const sums = { stakes: String(stakes), payouts: String(payouts), refunds: String(refunds) }
  return {
    ...{ id, rounds, ...sums },
    ...(at === undefined ? {} : { at }),
    ...(trials === undefined ? {} : { trials: { ...trials, rules } }),
  }
}

/** Kills the id of a page's request. False when something has claimed it. */
export async function killRequest(streams: RoundStreams, sequence: string, id: string, dead: DeadRequest) {
  return kill(streams, sequence, requestKey(sequence, id), dead)
}

/** As `killRequest`, of an operator's movement. */
export async function killMovement(streams: RoundStreams, scope: Scope, id: string, dead: DeadRequest) {
  return kill(streams, scopeKey(scope), movementKey(scope, id), dead)
}

/** A dead request claims the id that a round's entry would, so one insert decides. */
async function kill(streams: RoundStreams, owner: string, key: string, dead: DeadRequest) {
  const decided = { facts: [{ dead, ids: [key] }], claims: [{ key }] } as const
  const stream = deadStream(owner, streams.journal.newWrite())
  return (await appendTo(streams, stream, 0, decided)) === 'appended'
}
