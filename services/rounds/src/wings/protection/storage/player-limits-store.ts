import type { AuditEntry } from '@pitboss/contracts/audit'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { fencedWrite } from '@pitboss/storage/change-fenced'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Db } from 'mongodb'
import { decodeMinor } from '../../../storage/round-document.ts'
import type { Charge, LimitBook, PlayerLimit, Sum, WantedLimit } from '../rules/player-limits.ts'

export type LimitChange = {
  readonly at: Date
  readonly reason: string | null
  readonly limits: readonly WantedLimit[]
}

export type StoredLimits = {
  readonly version: number
  readonly limits: readonly PlayerLimit[]
  readonly changes: readonly LimitChange[]
  readonly book: LimitBook
}

type Changed = Pick<StoredLimits, 'limits' | 'changes'>
type Text<Part, Field extends keyof Part> = Omit<Part, Field> & Record<Field, string>
type StoredWanted = Text<WantedLimit, 'value'>
type StoredLimit = Omit<Text<PlayerLimit, 'value'>, 'next'> & {
  next: { value: string | null; at: Date } | null
}

/** Amounts are minor units as text. */
type LimitsDocument = WithAudit & {
  /** `<operatorId>/<environment>/<playerId>`. */
  _id: string
  version: number
  limits: StoredLimit[]
  changes: { at: Date; reason: string | null; limits: StoredWanted[] }[]
  charges: Text<Charge, 'minor'>[]
  sums: Text<Sum, 'stakes' | 'payouts'>[]
}

export const playerLimitIndexes: readonly IndexDeclaration[] = [auditOutboxIndex]

export type PlayerLimitsStore = ReturnType<typeof createPlayerLimitsStore>

/** Creates the store of players' limits. The document of a player decides between replicas. */
export function createPlayerLimitsStore({ db }: { db: Db }) {
  const players = db.collection<LimitsDocument>('player_limits')
  const keyOf = (scope: Scope, playerId: string) => `${scopeKey(scope)}/${playerId}`

  return {
    async find(scope: Scope, playerId: string): Promise<StoredLimits | null> {
      const found = await players.findOne({ _id: keyOf(scope, playerId) })
      return found === null ? null : decode(found)
    },

    exists: async (scope: Scope, playerId: string) =>
      (await players.findOne({ _id: keyOf(scope, playerId) }, { projection: { _id: 1 } })) !== null,

    /** Makes the document of a player who has none yet; it holds no limit. */
    async begin(scope: Scope, playerId: string): Promise<void> {
      const empty = { version: 1, limits: [], changes: [], charges: [], sums: [] }
      await insertedFirst(() => players.insertOne({ _id: keyOf(scope, playerId), ...empty }))
    },

    set(scope: Scope, playerId: string, version: number, changed: Changed, audit: AuditEntry) {
      const changes = changed.changes.map((one) => ({ ...one, limits: one.limits.map(encodeValue) }))
      const fields = { limits: changed.limits.map(encodeLimit), changes }
      const update = auditedUpdate<LimitsDocument>({ $set: fields }, audit)
      return fencedWrite(players, { _id: keyOf(scope, playerId) }, version, update)
    },

    keep: (scope: Scope, playerId: string, version: number, { charges, sums }: LimitBook): Promise<boolean> =>
      fencedWrite(players, { _id: keyOf(scope, playerId) }, version, {
        $set: {
          charges: charges.map((one) => ({ ...one, minor: String(one.minor) })),
          sums: sums.map((one) => ({ ...one, stakes: String(one.stakes), payouts: String(one.payouts) })),
        },
      }),
  }
}

function decode({ version, limits, changes, charges, sums }: LimitsDocument): StoredLimits {
  return {
    version,
    limits: limits.map(({ next, ...limit }) => {
      const later = next === null ? null : { ...next, value: next.value === null ? null : BigInt(next.value) }
      return { ...decodeValue(limit), next: later }
    }),
    changes: changes.map((one) => ({ ...one, limits: one.limits.map(decodeValue) })),
    book: {
      charges: charges.map(decodeMinor),
      sums: sums.map((one) => ({ ...one, stakes: BigInt(one.stakes), payouts: BigInt(one.payouts) })),
    },
  }
}

function encodeLimit({ next, ...limit }: PlayerLimit): StoredLimit {
  const later = next === null ? null : { ...next, value: next.value === null ? null : String(next.value) }
  return { ...encodeValue(limit), next: later }
}

function encodeValue(limit: WantedLimit): StoredWanted {
  return { ...limit, value: String(limit.value) }
}

function decodeValue(limit: StoredWanted): WantedLimit {
  return { ...limit, value: BigInt(limit.value) }
}
