import type { WalletContext } from '../../context.ts'
import type { WingGiven } from '../../wing.ts'
import type { FlagStore } from './storage/flag-store.ts'

export type FlagsContext = WalletContext & Pick<WingGiven, 'readMoney'> & { readonly flags: FlagStore }
