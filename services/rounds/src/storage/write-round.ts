import { fieldChanges } from '@pitboss/storage/field-changes'
import { outboxUpdate } from '@pitboss/storage/outbox'
import type { Document } from 'mongodb'
import type { RoundState } from '../rules/round.ts'
import {
  encodeRound,
  type FactEntry,
  openedUnder,
  type RoundDocument,
  type RoundWrite,
  type StoredRound,
} from './round-document.ts'

/** The document of a new round. */
export function newDocument(write: RoundWrite, now: Date): RoundDocument {
  return {
    ...encodeRound(write.round),
    _id: write.round.id,
    ...requestKey(write.round),
    version: 1,
    dueAt: write.dueAt,
    checks: 0,
    claims: 0,
    facts: factEntries(write.fact),
    factsAt: write.fact === null ? null : write.round.createdAt,
    outbox: [...write.events],
    outboxAt: write.events.length === 0 ? null : now,
  }
}

/** The update that writes a change: of the fields of the state those that differ from `before`. */
export function updateOf({ fields: before = {} }: StoredRound, write: RoundWrite, now: Date): Document {
  const { $set, ...unset } = fieldChanges(before, encodeRound(write.round))
  const outbox = write.events.length === 0 ? null : outboxUpdate(write.events, now)
  const facts = factEntries(write.fact)
  const push = {
    ...outbox?.$push,
    ...(facts.length === 0 ? {} : { facts: { $each: facts } }),
  }
  return {
    ...unset,
    $set: {
      ...$set,
      dueAt: write.dueAt,
      checks: 0,
      ...outbox?.$set,
      ...(facts.length === 0 ? {} : { factsAt: write.round.createdAt }),
    },
    ...(Object.keys(push).length === 0 ? {} : { $push: push }),
  }
}

/**
 * The round after a write that was the first. Claims since it was read are not known; a write that must know
 * them is fenced by their number.
 */
export function writtenRound({ version, claims, outbox }: StoredRound, write: RoundWrite): StoredRound {
  const { round, dueAt, events } = write
  return {
    round,
    version: version + 1,
    dueAt,
    checks: 0,
    claims,
    outbox: [...outbox, ...events],
    fields: encodeRound(round),
  }
}

/** The round after its insertion. */
export function insertedRound({ round, dueAt, events }: RoundWrite): StoredRound {
  return { round, version: 1, dueAt, checks: 0, claims: 0, outbox: events, fields: encodeRound(round) }
}

/**
 * The key of the request, written with new documents alone: rounds of earlier releases, which can share an
 * id, never enter the index.
 */
function requestKey({ driver, clientTransactionId: id }: RoundState): Pick<RoundDocument, 'openedUnder'> {
  return id === null ? {} : { openedUnder: openedUnder(driver, id) }
}

function factEntries(fact: RoundWrite['fact']): FactEntry[] {
  if (fact === null) return []
  const { id, rounds, stakes, payouts, refunds, at, trials, rules = '' } = fact
  const sums = { stakes: String(stakes), payouts: String(payouts), refunds: String(refunds) }
  return [
    {
      ...{ id, rounds, ...sums },
      ...(at === undefined ? {} : { at }),
      ...(trials === undefined ? {} : { trials: { ...trials, rules } }),
    },
  ]
}
