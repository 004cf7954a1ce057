import type { Wing } from '../../wing.ts'
import { gameCalls } from './calls/games.ts'

/** The catalogue with an account's settings, and their changes. Source: docs/contract.md, section 3. */
export const games: Wing = {
  open: (core) => ({ calls: gameCalls(core) }),
}
