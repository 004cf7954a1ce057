import type { CallHandler } from '@pitboss/bus/serve-calls'
import type { Poll } from '@pitboss/runtime/poll'
import type { Duty } from '@pitboss/storage/journal/duties'
import type * as wings from '@pitboss/storage/wing'
import type { Db } from 'mongodb'
import type { WalletContext } from './context.ts'
import type { MoneyEntry, MoneyFact, RoundMoney } from './storage/round-money.ts'

export type WingGiven = {
  readonly db: Db
  /** Milliseconds by which this process's clock is ahead of the database's. */
  readonly clockAheadMs: () => number
  /** The round's money that an entry belongs to, as a majority has it. */
  readonly readMoney: (entry: MoneyEntry) => Promise<RoundMoney>
}

export type Wing = wings.Wing<
  WalletContext,
  WingGiven,
  {
    readonly calls: readonly CallHandler[]
    /** What follows the entries of the journal, before their audit entries move. */
    readonly duties?: readonly Duty<MoneyFact>[]
    readonly start?: () => Poll
  }
>
