import type { CallHandler } from '@pitboss/bus/serve-calls'
import type { Poll } from '@pitboss/runtime/poll'
import type { Duty } from '@pitboss/storage/journal/duties'
import type { Storage } from '@pitboss/storage/connect-storage'
import type * as wings from '@pitboss/storage/wing'
import type { WalletContext } from './context.ts'
import type { OpenMoney } from './storage/open-money.ts'
import type { MoneyFact } from './storage/round-money.ts'

type WingGiven = Pick<Storage, 'db' | 'clockAheadMs'> & Pick<OpenMoney, 'readMoney'>

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
