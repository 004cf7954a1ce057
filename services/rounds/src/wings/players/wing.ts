import type { Wing } from '../../wing.ts'
import { playerDeskCalls } from './calls/players.ts'

/** What people see of a player. Source: docs/contract.md, section 3, "Player". */
export const players: Wing = {
  open: (core) => ({ calls: playerDeskCalls(core) }),
}
