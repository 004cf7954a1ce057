import type { Wing } from '../../wing.ts'
import { playerDeskCalls } from './calls/players.ts'

/**
 * What the operator's people see of a player, and a player's data. Source: docs/contract.md, section 3,
 * "Player".
 */
export const players: Wing = {
  ...{ name: 'players', indexes: {}, audited: [], seals: [] },
  open: (core) => ({ calls: playerDeskCalls(core) }),
}
