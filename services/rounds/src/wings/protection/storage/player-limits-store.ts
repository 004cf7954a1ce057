import type { AuditEntry } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import { auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { fencedWrite } from '@pitboss/storage/change-fenced'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Db } from 'mongodb'
import type { Charge, LimitBook, Sum, PlayerLimit, WantedLimit } from '../rules/player-limits.ts'
import { decodeMinor, scopeKey } from '../../../storage/round-document.ts'

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

  async function find(scope: Scope, playerId: string): Promise<StoredLimits | null> {
    const found = await players.findOne({ _id: keyOf(scope, playerId) })
    return found === null ? null : decode(found)
  }

  return {
    find,

    async exists(scope: Scope, playerId: string): Promise<boolean> {
      const options = { projection: { _id: 1 } }
      return (await players.findOne({ _id: keyOf(scope, playerId) }, options)) !== null
    },

    /** Makes the document of a player who has none yet; it holds no limit. */
    async begin(scope: Scope, playerId: string): Promise<void> {
      const empty = { version: 1, limits: [], changes: [], charges: [], sums: [] }
      await insertedFirst(() => players.insertOne({ _id: keyOf(scope, playerId), ...empty }))
    },

    set: (
      scope: Scope,
      playerId: string,
      version: number,
      { limits, changes }: Pick<StoredLimits, 'limits' | 'changes'>,
      audit: AuditEntry,
    ): Promise<boolean> => {
      const fields = { limits: limits.map(encodeLimit), changes: changes.map(encodeChange) }
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
    limits: limits.map(({ value, next, ...limit }) => ({
      ...limit,
      value: BigInt(value),
      next: next === null ? null : { ...next, value: next.value === null ? null : BigInt(next.value) },
    })),
    changes: changes.map((change) => ({
      ...change,
      limits: change.limits.map((limit) => ({ ...limit, value: BigInt(limit.value) })),
    })),
    book: {
      charges: charges.map(decodeMinor),
      sums: sums.map((one) => ({ ...one, stakes: BigInt(one.stakes), payouts: BigInt(one.payouts) })),
    },
  }
}

function encodeLimit({ value, next, ...limit }: PlayerLimit): StoredLimit {
  const later = next === null ? null : { ...next, value: next.value === null ? null : String(next.value) }
  return { ...limit, value: String(value), next: later }
}

function encodeChange({ limits, ...change }: LimitChange) {
  return { ...change, limits: limits.map((limit) => ({ ...limit, value: String(limit.value) })) }
}
