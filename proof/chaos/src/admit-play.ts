import { setTimeout as delay } from 'node:timers/promises'
import type { Tenancy } from './open-tenancies.ts'
import { type Answer, launchTokenOf, send } from './send.ts'
import type { Verdict } from './check/verdict.ts'

export const admitsPlay = 'life: new play is admitted when all has healed'
const playerId = 'after-the-faults'
const everyMs = 250
const bet = { target: '50.00', direction: 'over' }

/**
 * Plays one round of a new player in each tenancy. Play that yields to deliveries, to a full stream or to a
 * wallet's breaker may be refused while the faults last, and must not be afterwards.
 */
export async function admitPlay(
  tenancies: readonly Pick<Tenancy, 'name' | 'operator'>[],
  { withinMs, verdict }: { withinMs: number; verdict: Verdict },
): Promise<void> {
  const untilMs = performance.now() + withinMs
  await Promise.all(
    tenancies.map(async ({ name, operator }) => {
      let last = await playOnce(operator)
      while (last.status !== 201 && performance.now() < untilMs) {
        await delay(everyMs)
        last = await playOnce(operator)
      }
      const answered = () => `${name}: ${last.status} ${JSON.stringify(last.body)}`
      verdict.check(admitsPlay, last.status === 201, answered)
    }),
  )
}

/** @returns the answer to the stake, or that to its session when there is none */
async function playOnce(operator: Tenancy['operator']): Promise<Answer> {
  const session = { player_id: playerId, game: 'dice', currency: 'USD' }
  const opened = await operator.call('POST', '/sessions', session)
  if (opened.status !== 201) return opened
  const token = launchTokenOf(opened)
  const body = { stake: '1.00', bet, client_seed: 'after' }
  return send('POST', `${operator.base}/game/rounds`, { token, body })
}
