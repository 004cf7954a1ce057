import type { CallHandler } from '@pitboss/bus/serve-calls'
import type { Keyring } from '@pitboss/storage/keyring'
import type * as wings from '@pitboss/storage/wing'
import type { Db } from 'mongodb'
import type { Registry } from 'prom-client'
import type { RoundsConfig } from './config.ts'
import type { Hooks, RoundsContext } from './context.ts'
import type { FactFold } from './storage/rounds-journal.ts'

export type Wing = wings.Wing<RoundsContext, WingGiven, OpenWing>

export type WingGiven = {
  readonly db: Db
  readonly keyring: Keyring
  readonly registry: Registry
  /** Milliseconds by which this process's clock is ahead of the database's. */
  readonly clockAheadMs: () => number
  readonly returnsAlarm: RoundsConfig['PITBOSS_RETURNS_ALARM']
}

export type OpenWing = {
  readonly calls: readonly CallHandler[]
  readonly hooks?: Partial<Omit<Hooks, 'folds'>>
  readonly fold?: FactFold
  readonly start?: () => readonly { stop(): Promise<void> }[]
}

/** What happens where no wing acts. */
export const noHooks: Omit<Hooks, 'folds'> = {
  assertWithinLimits: async () => undefined,
  chargeStake: async () => null,
  enforceStartInterval: () => null,
  beforeSession: async () => undefined,
  afterSession: async () => undefined,
  sessionFields: async () => ({}),
  playerData: { stop: async () => noData, limits: async () => noData },
}
const noData = { data: [], next: null }

export function mountWings(core: Omit<RoundsContext, 'hooks'>, wings: readonly Wing[], given: WingGiven) {
  const folds: FactFold[] = []
  const hooks: Hooks = { ...noHooks, folds }
  const context = { ...core, hooks }
  const open = wings.map((wing) => wing.open(context, given))
  for (const one of open) {
    Object.assign(hooks, one.hooks)
    if (one.fold !== undefined) folds.push(one.fold)
  }
  return { context, open }
}
