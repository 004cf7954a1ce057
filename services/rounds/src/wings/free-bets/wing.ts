import type { Wing } from '../../wing.ts'
import { freeBetCalls } from './calls/free-bets.ts'

/** Grants of free bets by operators. Source: docs/contract.md, section 4, "Free bets". */
export const freeBets: Wing = {
  open: (core) => ({ calls: freeBetCalls(core) }),
}
