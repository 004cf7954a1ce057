import { isDeepStrictEqual } from 'node:util'
import type { RoundFields } from '@pitboss/rounds/storage/round-document'
import { claimsOfEntry, idKind, type RoundEntry, streamState } from '@pitboss/rounds/storage/round-stream'
import { standingAmong } from '@pitboss/storage/journal/claims'
import type { Entry } from '@pitboss/storage/journal/journal'
import { documentOf, type StoredDocument } from '@pitboss/storage/journal/mongodb-journal'
import { partsOf, streamOf } from '@pitboss/storage/journal/journal-keys'
import type { MovementDocument } from '@pitboss/wallet-bridge/storage/movement-document'
import { moneyOf, type MoneyEntry } from '@pitboss/wallet-bridge/storage/round-money'
import { BSON, type Document } from 'mongodb'
import { z } from 'zod'
import { requestKey } from '../check/requests.ts'
import { nothingLost, type Restored, type RestoredPart, type RestoredService } from '../check/restored.ts'
import type { Collections } from './database-copy.ts'

const stored = z.looseObject({
  _id: z.string(),
  scope: z.string(),
  driver: z.string(),
  playerId: z.string(),
  game: z.string(),
  nonce: z.coerce.number(),
  transactionIds: z.array(z.string()),
})

/** Notes what a copy does not know of the present database, by account and environment. */
export function lostBetween(
  copy: Collections,
  present: Collections,
  service: RestoredService,
  { services, parts }: Restored,
): void {
  const partOf = (scope: string): RestoredPart => {
    const part = parts.get(scope) ?? nothingLost(services)
    parts.set(scope, part)
    return part
  }
  const [before, after] = [journalIn(copy), journalIn(present)]
  if (service === 'rounds') {
    const [kept, rounds] = [roundsIn(before), roundsIn(after)]
    for (const [id, round] of rounds)
      if (!isDeepStrictEqual(round, kept.get(id))) noteRound(partOf, round, kept.has(id))
    const claims = new Set(idClaimsIn(before))
    for (const key of idClaimsIn(after)) if (!claims.has(key)) noteClaim(partOf, key)
  }
  if (service === 'wallet-bridge') {
    const [kept, movements] = [movementsIn(before), movementsIn(after)]
    for (const [key, movement] of movements) {
      const { operatorId, environment, transactionId, roundId } = movement
      if (!isDeepStrictEqual(movement, kept.get(key)))
        partOf(`${operatorId}/${environment}`).movements.set(transactionId, roundId)
    }
  }
}

function journalIn(copy: Collections): Document[] {
  const stored = [...(copy.get('journal')?.values() ?? [])]
  return stored.map((bytes) => documentOf(BSON.deserialize(bytes) as StoredDocument))
}

/** The entries of each stream in their order. */
function streamsIn(journal: readonly Document[]): Entry<unknown>[][] {
  const entries = journal.filter((one) => 'f' in one) as unknown as Entry<unknown>[]
  return [...Map.groupBy(entries, ({ _id }) => streamOf(_id)).values()].map((own) =>
    own.toSorted((a, b) => (a._id < b._id ? -1 : 1)),
  )
}

/** The rounds by id: a copy's lists may be seconds older than its journal. */
function roundsIn(journal: readonly Document[]): Map<string, RoundFields> {
  const owners = new Map(journal.filter((one) => 's' in one).map(({ _id, w }) => [String(_id), String(w)]))
  /** Whether a claim is another's: the process that takes the round over finds that it never stood. */
  const hasLost = (entry: RoundEntry) =>
    claimsOfEntry(entry).some(({ key }) => (owners.get(key) ?? entry.w) !== entry.w)
  const found = streamsIn(journal).flatMap((own) => {
    const standing = standingAmong(own as RoundEntry[])
    if (standing.slice(0, 1).some(hasLost)) return []
    const { fields, isWithdrawn, isPlace } = streamState(standing)
    // The place of a nonce whose round is gone is no round.
    return fields === null || isWithdrawn || isPlace ? [] : [[fields._id, fields] as const]
  })
  return new Map(found)
}

function movementsIn(journal: readonly Document[]): Map<string, MovementDocument> {
  const found = streamsIn(journal).flatMap((own) => [...moneyOf(standingAmong(own as MoneyEntry[])).values()])
  return new Map(
    found.map((one) => [`${one.operatorId}/${one.environment}/${one.transactionId}`, one] as const),
  )
}

/** The claims of ids that clients send. */
function idClaimsIn(journal: readonly Document[]): string[] {
  return journal.map(({ _id }) => String(_id)).filter((id) => id.startsWith(`${idKind}/`))
}

function noteRound(partOf: (scope: string) => RestoredPart, present: RoundFields, isKept: boolean): void {
  const { _id: id, scope, driver, playerId, game, nonce, transactionIds } = stored.parse(present)
  const part = partOf(scope)
  if (!isKept) part.lost.set(id, { sequence: `${playerId}/${game}`, nonce })
  else if (driver === 'operator') part.changed.add(id)
  // A round that we play is played to the same end again: nothing of it is lost.
  if (isKept && driver === 'game') return
  for (const one of transactionIds) part.transactionIds.add(one)
}

/** Notes an id that the copy does not claim: of a round, of a movement, or of a request that was refused. */
function noteClaim(partOf: (scope: string) => RestoredPart, key: string): void {
  const [operatorId, environment, ...own] = partsOf(key).slice(2)
  const [id = '', player = '', game = ''] = own.toReversed()
  partOf(`${operatorId}/${environment}`).transactionIds.add(
    own.length === 1 ? id : requestKey(player, game, id),
  )
}
