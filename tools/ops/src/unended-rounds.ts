import type { Bus } from '@pitboss/bus/connect-bus'
import { opsUnendedRounds } from '@pitboss/contracts/calls/rounds'
import type { Scope } from '@pitboss/contracts/caller'
import { pagesOf } from './pages-of.ts'

/**
 * The rounds of an account that the game drives and that have not ended, each once. A round goes from PENDING
 * to OPEN: read in that order, none is missed that does so meanwhile.
 */
export async function* unendedRounds(bus: Pick<Bus, 'call'>, scope: Scope) {
  const seen = new Set<string>()
  for (const status of ['PENDING', 'OPEN'] as const) {
    const read = (after: string | null) => bus.call(opsUnendedRounds, { scope, status, after })
    for await (const rounds of pagesOf(read)) {
      for (const round of rounds.filter(({ round_id: id }) => !seen.has(id))) {
        seen.add(round.round_id)
        yield { ...round, status }
      }
    }
  }
}
