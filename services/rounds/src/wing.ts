import type { CallHandler } from '@pitboss/bus/serve-calls'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Keyring } from '@pitboss/storage/keyring'
import type { SealedPlace } from '@pitboss/storage/rewrite-seals'
import type { Db } from 'mongodb'
import type { Registry } from 'prom-client'
import type { RoundsConfig } from './config.ts'
import type { RoundsContext } from './context.ts'
import type { Hooks } from './hooks.ts'
import type { FactFold } from './storage/counted-entries.ts'

/** A part that the core does without: neither the core nor another wing imports it; the app mounts it. */
export type Wing = {
  readonly name: string
  readonly indexes: Readonly<Record<string, readonly IndexDeclaration[]>>
  readonly audited: readonly string[]
  readonly seals: readonly SealedPlace[]
  /** Adds the wing's stores to the core's context, and binds calls, hooks and workers to it. */
  open(core: RoundsContext, given: WingGiven): OpenWing
}

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
  readonly start?: () => readonly Stoppable[]
}

type Stoppable = { stop(): Promise<void> }
