import type { Random } from '@pitboss/chaos/random'

/** The brands of the account. */
export const brands: readonly string[] = ['1', '2'].map((number) => `brd_${number.padStart(26, '0')}`)

/** The brand in which a player plays a game, or null for none; decided by the run's seed. */
export function brandOf(random: Random, playerId: string, game: string): string | null {
  return random.fork(`brand/${playerId}/${game}`).pick([null, ...brands])
}
