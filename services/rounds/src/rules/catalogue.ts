import { createHmac } from 'node:crypto'
import type { Game } from '@pitboss/fairness/games/game'
import { games as allGames } from '@pitboss/fairness/games/registry'
import { leastReturn, type StakeAtLimit } from '@pitboss/fairness/returns/paid-return'
import { multiplyFloor, type Rational } from '@pitboss/money/rational'
import { v5 } from 'uuid'
import { idCharacters } from '@pitboss/contracts/id-characters'
import type { RoundContext } from './round-message.ts'
import type { RoundState } from './round.ts'

export type CatalogueEntry = {
  readonly game: Game
  /** The id of the game, fixed for ever; `wallet_game_id` of its rounds. */
  readonly gameId: string
  readonly rtp: Rational
  /** The least return of a bet that is taken at this stake; null when none is. */
  readonly leastReturn: (at: StakeAtLimit) => Rational | null
}

export type Catalogue = {
  readonly entries: readonly CatalogueEntry[]
  find(slug: string): CatalogueEntry | null
}

const returnsMax = 10_000

/** Namespace of the game ids: the id follows from the slug only. Never change it, wallets know the ids. */
const gameIdNamespace = '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a41'

/** The catalogue of the registered games; a further game needs its line in the registry and nothing here. */
export function createCatalogue(games: readonly Game[] = allGames): Catalogue {
  const entries = games.map((game) => ({
    game,
    gameId: v5(game.slug, gameIdNamespace),
    rtp: game.rtp,
    leastReturn: createLeastReturn(game),
  }))
  return { entries, find: (slug) => entries.find((entry) => entry.game.slug === slug) ?? null }
}

/** Remembers results: a search takes milliseconds, and accounts share their limits. */
function createLeastReturn(game: Game): CatalogueEntry['leastReturn'] {
  const known = new Map<string, Rational | null>()
  return function leastReturnAt(at) {
    const key = `${at.stake}/${at.maxPayout}`
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= returnsMax) known.clear()
    const least = leastReturn(game, game.rtp, at)
    known.set(key, least)
    return least
  }
}

type Given = { catalogue: Catalogue; now: Date; openSeed: () => string }

/**
 * Binds a time, the round's own seed and its game's rules to one round, for the transition. A game draws only
 * from seed and nonce, and so do the ids of win and refund: a round that is played again, because the
 * database was set back, gives the same, and wallet and wallet-bridge know the movement. Nobody can guess the
 * ids before the seed is shown. The seed is opened only when it is used.
 */
export function roundContext(round: RoundState, { catalogue, now, openSeed }: Given): RoundContext {
  return {
    now,
    winId: () => ownId('win', round, openSeed()),
    refundId: () => ownId('ref', round, openSeed()),
    get serverSeed() {
      return openSeed()
    },
    play(actions, cashOut) {
      const { clientSeed, nonce, stake, maxPayout } = round
      const entry = catalogue.find(round.game)
      const parsed = entry?.game.parseBet(round.bet)
      if (entry === null || parsed?.ok !== true)
        throw new Error(`round ${round.id} cannot be played: ${round.game} does not know its bet`)
      return parsed.wager.play({
        seeds: { serverSeed: openSeed(), clientSeed, nonce },
        rtp: entry.rtp,
        actions,
        cashOut,
        payoutFits: (multiplier) => multiplyFloor(stake, multiplier) <= maxPayout,
      })
    },
  }
}

const idTimeCharacters = 10
const idHashCharacters = 16

/** The id of the one movement of its kind that a round can have: time of the round, 80 bits of a hash. */
function ownId(prefix: 'win' | 'ref', { id }: RoundState, serverSeed: string): string {
  const [, own = ''] = id.split('_')
  const hash = createHmac('sha256', serverSeed).update(`${prefix}/${id}`).digest()
  return `${prefix}_${own.slice(0, idTimeCharacters)}${idCharacters(hash, idHashCharacters)}`
}
