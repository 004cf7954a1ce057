import type { AuditEntry } from '@pitboss/contracts/audit'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { fencedWrite } from '@pitboss/storage/change-fenced'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Db } from 'mongodb'
import { decodeMinor } from '../../../storage/round-document.ts'
import type { LimitBook, PlayerLimit, WantedLimit } from '../rules/player-limits.ts'

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

/** Amounts are minor units as text. */
type LimitsDocument = WithAudit &
  ReturnType<typeof encodeLimits> &
  ReturnType<typeof encodeBook> & {
    /** `<operatorId>/<environment>/<playerId>`. */
    _id: string
    version: number
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
      const update = auditedUpdate<LimitsDocument>({ $set: encodeLimits(changed) }, audit)
      return fencedWrite(players, { _id: keyOf(scope, playerId) }, version, update)
    },

    keep: (scope: Scope, playerId: string, version: number, book: LimitBook): Promise<boolean> =>
      fencedWrite(players, { _id: keyOf(scope, playerId) }, version, { $set: encodeBook(book) }),
  }
}

function encodeLimits({ limits, changes }: Changed) {
  const wanted = (limit: WantedLimit) => ({ ...limit, value: String(limit.value) })
  return {
    limits: limits.map(({ next, ...limit }) => {
      const later = next && { ...next, value: next.value === null ? null : String(next.value) }
      return { ...wanted(limit), next: later }
    }),
    changes: changes.map((one) => ({ ...one, limits: one.limits.map(wanted) })),
  }
}

function encodeBook({ charges, sums }: LimitBook) {
  return {
    charges: charges.map((one) => ({ ...one, minor: String(one.minor) })),
    sums: sums.map((one) => ({ ...one, stakes: String(one.stakes), payouts: String(one.payouts) })),
  }
}

function decode({ version, limits, changes, charges, sums }: LimitsDocument): StoredLimits {
  const wanted = <Limit extends { value: string }>(limit: Limit) => ({ ...limit, value: BigInt(limit.value) })
  return {
    version,
    limits: limits.map(({ next, ...limit }) => {
      const later = next && { ...next, value: next.value === null ? null : BigInt(next.value) }
      return { ...wanted(limit), next: later }
    }),
    changes: changes.map((one) => ({ ...one, limits: one.limits.map(wanted) })),
    book: {
      charges: charges.map(decodeMinor),
      sums: sums.map((one) => ({ ...one, stakes: BigInt(one.stakes), payouts: BigInt(one.payouts) })),
    },
  }
}
