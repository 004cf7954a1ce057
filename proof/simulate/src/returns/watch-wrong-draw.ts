import { createHash } from 'node:crypto'
import { newStream } from '@pitboss/fairness/returns/return-watch'
import type { Catalogue } from '@pitboss/rounds/rules/catalogue'
import {
  foldStep,
  type KeptStream,
  stepsOf,
  streamBudget,
  streamKey,
} from '@pitboss/rounds/wings/returns/rules/watched-streams'

const account = { scope: 'an-operator/LIVE', environment: 'LIVE', currency: 'EUR' } as const

/**
 * Plays real rounds of dice, seed by seed, and watches them as the service does.
 * @param catalogue the games; one of them may draw wrong
 * @returns by shape, after how many rounds each stream of the installation was an alarm; null for never
 */
export function watchDice(catalogue: Catalogue, rounds: number): Record<string, number | null> {
  const entry = catalogue.find('dice')
  const parsed = entry?.game.parseBet({ target: '49.50', direction: 'under' })
  if (entry === null || parsed?.ok !== true) throw new Error('dice takes an even bet')
  const streams = new Map<string, KeptStream>()
  const alarmed: Record<string, number | null> = {}
  for (let nonce = 1; nonce <= rounds; nonce++) {
    const serverSeed = createHash('sha256').update(`simulated ${nonce}`).digest('hex')
    const play = {
      seeds: { serverSeed, clientSeed: null, nonce },
      rtp: entry.rtp,
      actions: [],
      cashOut: false,
    }
    const played = parsed.wager.play({ ...play, payoutFits: () => true })
    if (!played.over) throw new Error('a round of dice is over at once')
    const round = { game: 'dice', bet: parsed.wager.bet, outcome: played.outcome, stake: 100n, payout: 0n }
    const taken = { from: 0, to: 1, rules: entry.game.version }
    for (const step of stepsOf({ ...account, ...round, driver: 'game', freeBet: false }, taken, catalogue)) {
      if (step.share !== 'installation') continue
      const key = streamKey(step)
      const fresh = newStream(step, streams.size + 1, streamBudget)
      const before = streams.get(key) ?? { ...fresh, staked: 0n, paid: 0n, points: [], crossing: null }
      const after = foldStep(before, step, new Date(nonce))
      streams.set(key, after)
      alarmed[step.shape] ??= after.alarmedAt
    }
  }
  return alarmed
}
