import type { Account } from '@pitboss/contracts/caller'
import { invalidField } from '@pitboss/errors/service-error'
import { formatAmount } from '@pitboss/money/amount'
import type { Clock } from '@pitboss/runtime/clock'
import { platformLimits } from '../rules/limits.ts'
import { assertCurrency, judgeAmount, readAmount } from '../rules/read-amount.ts'
import type { GamesStore } from '../storage/games-store.ts'
import type { GameAccess } from './game-access.ts'
import type { GameView } from './read-games.ts'

type GamePatch = {
  enabled?: boolean | undefined
  limits?: readonly { currency: string; min_stake: string; max_stake: string }[] | undefined
}

/** An order of operations: its author and reason. A dry run checks it and changes nothing. */
type Order = { readonly by: string; readonly reason: string | null; readonly dryRun: boolean }

export type ChangeGame = ReturnType<typeof createChangeGame>

/** Creates the changes of a game: by an account for itself, by operations for the whole platform. */
export function createChangeGame({
  games,
  access,
  clock,
}: {
  games: Pick<GamesStore, 'change' | 'setStatus' | 'status'>
  access: Pick<GameAccess, 'find'>
  clock: Clock
}) {
  return { change, setStatus }

  /**
   * Changes the parts of the account's settings that the patch gives.
   * @throws ServiceError GAME_NOT_FOUND, CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR naming the path
   */
  async function change(account: Account, slug: string, patch: GamePatch): Promise<GameView> {
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
    return { entry, settings, status: await games.status(slug) }
  }

  /** Switches a game on or off for the whole platform. @throws ServiceError GAME_NOT_FOUND */
  async function setStatus(slug: string, status: 'AVAILABLE' | 'DOWN', order: Order): Promise<void> {
    access.find(slug)
    if (order.dryRun) return
    await games.setStatus(slug, status, { by: order.by, reason: order.reason }, clock.now())
  }
}

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
