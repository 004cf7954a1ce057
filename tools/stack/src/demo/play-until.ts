import type { Round } from './demo-answers.ts'
import { DemoError } from './demo-http.ts'

const triesMax = 60

/**
 * Plays until a round ends as wanted; the rounds before it are fair rounds too, just not shown.
 * @throws DemoError
 */
export async function playUntil(
  wanted: 'lost' | 'won',
  play: () => Promise<Round>,
  before: () => Promise<void>,
): Promise<Round> {
  for (let tries = 0; tries < triesMax; tries++) {
    await before()
    const round = await play()
    if ((round.outcome?.won === true) === (wanted === 'won')) return round
  }
  throw new DemoError(`no ${wanted} round in ${triesMax}`)
}
