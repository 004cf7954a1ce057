import type { Wing } from '../../wing.ts'
import { raiseFlags } from './actions/raise-flags.ts'
import { flagCalls } from './calls/flags.ts'
import { createFlagStore, flagIndexes } from './storage/flag-store.ts'

/** Movements that somebody should look at, with a case about each. Source: docs/contract.md, section 3. */
export const flags: Wing = {
  indexes: flagIndexes,
  audited: ['flags'],
  open(core, { db, readMoney }) {
    const context = { ...core, readMoney, flags: createFlagStore(db) }
    return {
      calls: flagCalls(context),
      duties: [{ name: 'flags', run: (entries) => raiseFlags(context, entries) }],
    }
  },
}
