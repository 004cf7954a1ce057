import { orderedBy } from '@pitboss/contracts/audit'
import type { OpsOrder } from '@pitboss/contracts/calls/auth-ops'
import type { Game } from '@pitboss/contracts/objects/game'
import { ServiceError } from '@pitboss/errors/service-error'
import { findGame } from '../../../actions/offered-game.ts'
import type { RoundsContext } from '../../../context.ts'
import { presentGame } from '../../../records/present-game.ts'
import { allowedLimits } from '../../../rules/limits.ts'
import type { GameChange, GameSettings } from '../../../storage/games-store.ts'
import { readWantedLimits, type WantedLimits } from '../rules/wanted-limits.ts'

/**
 * Sets what an account may use in place of the platform's limits; null goes back to those.
 * @returns the account's limits from then on
 * @throws ServiceError GAME_NOT_FOUND, CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR naming the path
 */
export async function setGameLimits(
  context: RoundsContext,
  { operatorId, slug, currency }: { operatorId: string; slug: string; currency: string },
  wanted: WantedLimits | null,
  order: OpsOrder,
  requestId: string,
): Promise<Pick<Game, 'limits'>> {
  const { games, audit, clock } = context
  const entry = findGame(context, slug)
  const settings = await games.settings(operatorId, slug)
  const allowed = allowedLimits(settings, currency)
  if (allowed === null) throw new ServiceError('CURRENCY_NOT_SUPPORTED')
  const limits = wanted === null ? null : readWantedLimits(wanted, allowed, currency)
  const change: GameChange = { enabled: undefined, limits: [], byOperations: { currency, limits } }
  const shown = (one: GameSettings) => {
    const { limits } = presentGame({ entry, settings: one, status: 'AVAILABLE' }, [currency])
    return { limits }
  }
  if (order.dryRun) return shown(settings)
  const changed = await games.change(operatorId, slug, change, clock.now(), (before, after) =>
    audit.entry(orderedBy(order, operatorId, requestId), {
      act: 'game.set-limits',
      object: { type: 'game', id: slug },
      before: shown(before),
      after: shown(after),
    }),
  )
  return shown(changed)
}

/** Switches a game on or off for the whole platform. @throws ServiceError GAME_NOT_FOUND */
export async function setGameStatus(
  context: RoundsContext,
  slug: string,
  status: 'AVAILABLE' | 'DOWN',
  order: OpsOrder,
  requestId: string,
): Promise<void> {
  const { games, audit, clock } = context
  findGame(context, slug)
  if (order.dryRun) return
  const entry = audit.entry(orderedBy(order, null, requestId), {
    act: 'game.set',
    object: { type: 'game', id: slug },
    before: { status: await games.status(slug) },
    after: { status },
  })
  await games.setStatus(slug, status, { by: order.by, reason: order.reason }, clock.now(), entry)
}
