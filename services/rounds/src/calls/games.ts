import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { opsSetGame } from '@pitboss/contracts/calls/rounds'
import type { Account, Caller } from '@pitboss/contracts/caller'
import {
  dashboardListGames,
  dashboardPatchGame,
  getGame,
  listGames,
  patchGame,
} from '@pitboss/contracts/endpoints/rounds'
import type { Game } from '@pitboss/contracts/objects/game'
import { invalidField } from '@pitboss/errors/service-error'
import { formatAmount } from '@pitboss/money/amount'
import { formatMultiplier } from '@pitboss/money/rational'
import type { Clock } from '@pitboss/runtime/clock'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { z } from 'zod'
import type { Catalogue, CatalogueEntry } from '../rules/catalogue.ts'
import { type Limits, narrow, platformLimits } from '../rules/limits.ts'
import type { GameSettings, GamesStore } from '../storage/games-store.ts'
import type { GameAccess } from '../actions/game-access.ts'
import { readPage } from './page.ts'
import { assertCurrency, judgeAmount, readAmount } from '../rules/read-amount.ts'

type GamesDeps = {
  catalogue: Catalogue
  games: GamesStore
  access: GameAccess
  showGame: ShowGame
  cursors: CursorCodec
  clock: Clock
}

type GamePatch = {
  enabled?: boolean | undefined
  limits?: readonly { currency: string; min_stake: string; max_stake: string }[] | undefined
}

/** One game as an account sees it. @throws ServiceError GAME_NOT_FOUND */
export type ShowGame = (account: Account, slug: string) => Promise<Game>

export function createShowGame({ games, access }: { games: GamesStore; access: GameAccess }): ShowGame {
  return async function showGame({ operator_id, currencies }, slug) {
    const entry = access.find(slug)
    const [settings, status] = await Promise.all([games.settings(operator_id, slug), games.status(slug)])
    return presentGame(entry, settings, status, currencies)
  }
}

/** The catalogue with the account's settings, and the platform's switch. Contract sections 3, 4 and 11. */
export function createGameHandlers({
  catalogue,
  games,
  access,
  showGame,
  cursors,
  clock,
}: GamesDeps): CallHandler[] {
  async function list(caller: Caller, name: string, query: { limit: number; cursor?: string | undefined }) {
    const { items, nextCursor } = await readPage({
      cursors,
      binding: { list: name, scope: caller.scope },
      query,
      position: z.int().min(0),
      read: async (before, max) => {
        const start = before === null ? 0 : before + 1
        return catalogue.entries.slice(start, start + max)
      },
      positionOf: (entry) => catalogue.entries.indexOf(entry),
    })
    const data = await Promise.all(items.map(({ game }) => showGame(caller.account, game.slug)))
    return { status: 200, body: { data, next_cursor: nextCursor } }
  }

  async function change({ account }: Caller, slug: string, patch: GamePatch) {
    for (const [position, { currency, min_stake, max_stake }] of (patch.limits ?? []).entries()) {
      judgeAmount(min_stake, currency, `limits.${position}.min_stake`)
      judgeAmount(max_stake, currency, `limits.${position}.max_stake`)
    }
    const entry = access.find(slug)
    const limits = readLimits(account, patch.limits ?? [])
    const settings = await games.change(
      account.operator_id,
      slug,
      { enabled: patch.enabled, limits },
      clock.now(),
    )
    const status = await games.status(slug)
    return { status: 200, body: presentGame(entry, settings, status, account.currencies) }
  }

  return [
    handler(listGames.call, ({ caller, query }) => list(caller, 'games', query)),
    handler(dashboardListGames.call, ({ caller, query }) => list(caller, 'games', query)),
    handler(getGame.call, async ({ caller, params }) => ({
      status: 200,
      body: await showGame(caller.account, params.slug),
    })),
    handler(patchGame.call, ({ caller, params, body }) => change(caller, params.slug, body)),
    handler(dashboardPatchGame.call, ({ caller, params, body }) => change(caller, params.slug, body)),
    handler(opsSetGame, async ({ order, slug, status }) => {
      access.find(slug)
      if (!order.dryRun) {
        await games.setStatus(slug, status, { by: order.by, reason: order.reason }, clock.now())
      }
      return { slug, status }
    }),
  ]
}

function presentGame(
  { game, gameId, rtp }: CatalogueEntry,
  settings: GameSettings,
  status: 'AVAILABLE' | 'DOWN',
  currencies: readonly string[],
): Game {
  return {
    slug: game.slug,
    game_id: gameId,
    name: game.name,
    enabled: settings.enabled,
    status,
    rtp: formatMultiplier(rtp),
    limits: currencies.flatMap((currency) => {
      const platform = platformLimits(currency)
      if (platform === null) return []
      return [presentLimits(narrow(platform, settings.limits.get(currency) ?? null), currency)]
    }),
    bet_schema: { ...game.betSchema },
  }
}

function presentLimits({ minStake, maxStake, maxPayout }: Limits, currency: string) {
  return {
    currency,
    min_stake: formatAmount(minStake, currency),
    max_stake: formatAmount(maxStake, currency),
    max_payout: formatAmount(maxPayout, currency),
  }
}

/** @throws ServiceError CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR naming the path. */
function readLimits(account: Account, limits: NonNullable<GamePatch['limits']>) {
  return limits.map(({ currency, min_stake, max_stake }, position) => {
    const path = `limits.${position}`
    assertCurrency(currency, account)
    if (limits.findIndex((one) => one.currency === currency) !== position) {
      throw invalidField(`${path}.currency`, 'is given twice')
    }
    const minStake = readAmount(min_stake, currency, `${path}.min_stake`)
    const maxStake = readAmount(max_stake, currency, `${path}.max_stake`)
    const platform = platformLimits(currency)
    if (platform === null) throw invalidField(`${path}.currency`, 'is not a currency')
    if (minStake < platform.minStake) {
      const least = formatAmount(platform.minStake, currency)
      throw invalidField(`${path}.min_stake`, `must not be below the platform's ${least}`)
    }
    if (maxStake > platform.maxStake) {
      const most = formatAmount(platform.maxStake, currency)
      throw invalidField(`${path}.max_stake`, `must not be above the platform's ${most}`)
    }
    if (minStake > maxStake) throw invalidField(`${path}.min_stake`, 'must not be above max_stake')
    return { currency, minStake, maxStake }
  })
}
