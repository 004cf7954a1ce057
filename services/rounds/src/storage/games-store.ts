import type { AuditEntry } from '@pitboss/contracts/audit'
import { auditedInsert, auditedUpdate, auditOutboxIndex, type WithAudit } from '@pitboss/storage/audit-outbox'
import { changeFenced } from '@pitboss/storage/change-fenced'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { SharedCopies } from '@pitboss/storage/shared-copies'
import type { Db } from 'mongodb'
import type { ChangedLimits, Limits, OwnLimits } from '../rules/limits.ts'

export const gameIndexes: Readonly<Record<'game_settings' | 'game_status', readonly IndexDeclaration[]>> = {
  game_settings: [auditOutboxIndex],
  game_status: [auditOutboxIndex],
}

type StoredLimits = { currency: string; minStake: string; maxStake: string; maxPayout: string }
type SettingsDocument = WithAudit & {
  _id: string
  version: number
  enabled: boolean
  /** `maxPayout` is absent where the account has set none. */
  limits: (Omit<StoredLimits, 'maxPayout'> & { maxPayout?: string })[]
  /** Limits that operations have set for the account in place of the platform's. Absent without any. */
  byOperations?: StoredLimits[]
  updatedAt: Date
  /** The approval by which it was changed the last time that one was needed. */
  approvalId?: string
}
type SettingsFields = Omit<SettingsDocument, '_id'>
type Settings = SettingsDocument | null
type StatusDocument = WithAudit & {
  _id: string
  status: 'AVAILABLE' | 'DOWN'
  changedAt: Date
  by: string
  reason: string | null
  /** Alarms of the watch of returns that have taken the game down: each does so once. */
  alarms?: readonly string[]
}

/** An account's settings of a game, for both environments. `version` rises with each change, from 0. */
export type GameSettings = {
  readonly enabled: boolean
  readonly limits: ReadonlyMap<string, OwnLimits>
  readonly byOperations: ReadonlyMap<string, Limits>
  readonly version: number
}

type ByOperations = { readonly currency: string; readonly limits: Limits | null }
export type GameChange = {
  readonly enabled: boolean | undefined
  readonly limits: readonly ChangedLimits[]
  readonly byOperations?: ByOperations
}
type Author = { readonly by: string; readonly reason: string | null }
type EntryOfChange = (before: GameSettings, after: GameSettings) => AuditEntry

export type GameStatus = StatusDocument['status']

const triesMax = 5

export type GamesStore = ReturnType<typeof createGamesStore>

/** What accounts and operations set about games. Each write resolves once no process uses what was before. */
export function createGamesStore({ db, copies: { of } }: { db: Db; copies: Pick<SharedCopies, 'of'> }) {
  const settings = db.collection<SettingsDocument>('game_settings')
  const statuses = db.collection<StatusDocument>('game_status')
  const copiedSettings = of('game_settings', async (_id) => decode(await settings.findOne({ _id })))
  const copiedStatus = of('game_status', readStatus)

  const idOf = (operatorId: string, slug: string) => `${operatorId}/${slug}`

  async function readStatus(slug: string): Promise<GameStatus> {
    return (await statuses.findOne({ _id: slug }))?.status ?? 'AVAILABLE'
  }

  const fenced = async <Result>(
    _id: string,
    change: (present: Settings) => Promise<Result | null>,
  ): Promise<Result> => {
    const reread = () => settings.findOne({ _id })
    return changeFenced({ document: await reread(), change, reread, triesMax, name: `settings of ${_id}` })
  }

  async function replace(_id: string, present: Settings, next: SettingsFields, entryOf: EntryOfChange) {
    const after = decode({ ...present, _id, ...next })
    const entry = entryOf(decode(present), after)
    const isReplaced =
      present === null
        ? await insertedFirst(() => settings.insertOne({ _id, ...next, ...auditedInsert(entry) }))
        : (await settings.updateOne({ _id, version: present.version }, auditedUpdate({ $set: next }, entry)))
            .matchedCount === 1
    return isReplaced ? after : null
  }

  return {
    /** The settings and the status that an account's players play with (`shareCopies`). */
    async copy(operatorId: string, slug: string): Promise<{ settings: GameSettings; status: GameStatus }> {
      const reads = [copiedSettings.read(idOf(operatorId, slug)), copiedStatus.read(slug)] as const
      const [settings, status] = await Promise.all(reads)
      return { settings, status }
    },

    settings: async (operatorId: string, slug: string) =>
      decode(await settings.findOne({ _id: idOf(operatorId, slug) })),

    async change(operatorId: string, slug: string, change: GameChange, now: Date, entryOf: EntryOfChange) {
      const _id = idOf(operatorId, slug)
      const result = await fenced(_id, (present) =>
        replace(_id, present, changed(present, change, now), entryOf),
      )
      await copiedSettings.drop(_id)
      return result
    },

    /** As `change`, once for an approval, and only while the settings have the version that was seen. */
    async changeSeen(
      operatorId: string,
      slug: string,
      change: GameChange,
      { version, approvalId }: { version: number; approvalId: string },
      now: Date,
      entryOf: EntryOfChange,
    ): Promise<'done' | 'stale'> {
      const _id = idOf(operatorId, slug)
      const result = await fenced<'done' | 'stale'>(_id, async (present) => {
        if (present?.approvalId === approvalId) return 'done'
        if ((present?.version ?? 0) !== version) return 'stale'
        const next = { ...changed(present, change, now), approvalId }
        return (await replace(_id, present, next, entryOf)) === null ? null : 'done'
      })
      // Who wrote it before may have died before its note.
      if (result === 'done') await copiedSettings.drop(_id)
      return result
    },

    status: readStatus,

    /** Takes a game down once for an alarm: who brings it back has the last word. */
    async takeDown(_id: string, alarmId: string, { by, reason }: Author, now: Date, audit: AuditEntry) {
      const down = { status: 'DOWN', by, reason, changedAt: now } as const
      const update = { $set: down, $addToSet: { alarms: alarmId } }
      await insertedFirst(() =>
        statuses.updateOne({ _id, alarms: { $ne: alarmId } }, auditedUpdate<StatusDocument>(update, audit), {
          upsert: true,
        }),
      )
      await copiedStatus.drop(_id)
    },

    /** Brings a game back that `takenDownBy` has taken down; one that another took down stays down. */
    async bringBack(_id: string, takenDownBy: string, { by, reason }: Author, now: Date, audit: AuditEntry) {
      const available = { status: 'AVAILABLE', by, reason, changedAt: now } as const
      const { matchedCount } = await statuses.updateOne(
        { _id, status: 'DOWN', by: takenDownBy },
        auditedUpdate<StatusDocument>({ $set: available }, audit),
      )
      await copiedStatus.drop(_id)
      return matchedCount === 1
    },

    async setStatus(_id: string, status: GameStatus, { by, reason }: Author, now: Date, audit: AuditEntry) {
      const update = auditedUpdate({ $set: { status, by, reason, changedAt: now } }, audit)
      await statuses.updateOne({ _id }, update, { upsert: true })
      await copiedStatus.drop(_id)
    },
  }
}

function changed(present: Settings, change: GameChange, updatedAt: Date): SettingsFields {
  const { enabled, limits, byOperations } = change
  const before = present?.limits ?? []
  const kept = before.filter((one) => !limits.some(({ currency }) => currency === one.currency))
  const given = limits.map(({ currency, minStake, maxStake, maxPayout }) => {
    const earlier = before.find((one) => one.currency === currency)?.maxPayout
    const payout = maxPayout === undefined ? earlier : maxPayout?.toString()
    const stakes = { minStake: String(minStake), maxStake: String(maxStake) }
    return { currency, ...stakes, ...(payout === undefined ? {} : { maxPayout: payout }) }
  })
  return {
    version: (present?.version ?? 0) + 1,
    enabled: enabled ?? present?.enabled ?? true,
    limits: [...kept, ...given],
    ...(byOperations === undefined ? {} : { byOperations: changedByOperations(present, byOperations) }),
    updatedAt,
  }
}

function changedByOperations(present: Settings, { currency, limits }: ByOperations) {
  const others = (present?.byOperations ?? []).filter((one) => one.currency !== currency)
  if (limits === null) return others
  const { minStake, maxStake, maxPayout } = limits
  const set = { minStake: String(minStake), maxStake: String(maxStake), maxPayout: String(maxPayout) }
  return [...others, { currency, ...set }]
}

function decode(document: Settings): GameSettings {
  const { enabled = true, version = 0, limits = [], byOperations = [] } = document ?? {}
  const decoded = <Payout>({ minStake, maxStake }: Omit<StoredLimits, 'maxPayout'>, maxPayout: Payout) => {
    return { minStake: BigInt(minStake), maxStake: BigInt(maxStake), maxPayout }
  }
  const payoutOf = (text?: string) => (text === undefined ? null : BigInt(text))
  return {
    ...{ enabled, version },
    limits: new Map(limits.map((one) => [one.currency, decoded(one, payoutOf(one.maxPayout))])),
    byOperations: new Map(byOperations.map((one) => [one.currency, decoded(one, BigInt(one.maxPayout))])),
  }
}
