import { createAskApproval } from '@pitboss/bus/ask-approval'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { type ActedBy, orderedBy } from '@pitboss/contracts/audit'
import type { doApproved } from '@pitboss/contracts/calls/approvals'
import type { opsSetGame, opsSetGameLimits } from '@pitboss/contracts/calls/rounds'
import type { z } from 'zod'
import type { Account, Caller } from '@pitboss/contracts/caller'
import { readAll, ServiceError } from '@pitboss/errors/service-error'
import { type PageQuery, readPage } from '@pitboss/storage/read-page'
import { findGame, showGame } from '../../../actions/offered-game.ts'
import type { RoundsContext } from '../../../context.ts'
import { presentGame } from '../../../records/present-offer.ts'
import { allowedLimits, judgeAmount } from '../../../rules/limits.ts'
import type { GameChange, GameSettings } from '../../../storage/games-store.ts'
import { type GamePatch, readPatchLimits, readWantedLimits } from '../rules/wanted-limits.ts'

type LimitsOrder = z.output<typeof opsSetGameLimits.request>
type StatusOrder = z.output<typeof opsSetGame.request>
type Asked = { readonly account: Account; readonly slug: string; readonly patch: GamePatch }

/**
 * Changes the account's settings of a game. Switching it off is a grave act. Source: docs/contract.md,
 * section 3. @throws ServiceError GAME_NOT_FOUND, CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR; APPROVAL_NEEDED
 */
export async function changeGame(context: RoundsContext, asked: Asked, by: ActedBy, call: HandlerContext) {
  const { games, audit, clock, bus } = context
  const { slug, patch } = asked
  const { entry, given, status, object, shown } = await readPatch(context, asked)
  const { operator_id: operatorId } = asked.account
  const seen = patch.enabled === false ? await games.settings(operatorId, slug) : null
  if (seen?.enabled === true) {
    const limits = new Map([...seen.limits, ...ownOf(seen, given.limits)])
    const grave = {
      ...{ by, order: { act: 'game.change', slug, patch } as const, object, seen: String(seen.version) },
      ...{ before: shown(seen), after: shown({ ...seen, enabled: false, limits }) },
    }
    await createAskApproval({ bus, service: 'rounds' })(grave, call)
  }
  // A game that is off is not switched off again, so that this undoes nothing that somebody else changes.
  const wanted = seen?.enabled === false ? { ...given, enabled: undefined } : given
  const settings = await games.change(operatorId, slug, wanted, clock.now(), (before, after) =>
    audit.entry(by, { act: 'game.change', object, before: shown(before), after: shown(after) }),
  )
  return { entry, settings, status }
}

/** Makes a change once that was approved for the settings of that version. @throws as `changeGame` */
export async function changeApprovedGame(
  context: RoundsContext,
  { account, order, seen, by }: z.output<typeof doApproved.game.request>,
): Promise<'done' | 'stale'> {
  const { games, audit, clock } = context
  const { given, object, shown } = await readPatch(context, { account, ...order })
  const approved = { version: Number(seen), approvalId: by.approval.approval_id }
  return games.changeSeen(account.operator_id, order.slug, given, approved, clock.now(), (before, after) =>
    audit.entry(by, { act: 'game.change', object, before: shown(before), after: shown(after) }),
  )
}

async function readPatch(context: RoundsContext, { account, slug, patch }: Asked) {
  readAll(
    ...(patch.limits ?? []).flatMap(({ currency, min_stake, max_stake, max_payout }, position) => [
      () => judgeAmount(min_stake, currency, `limits.${position}.min_stake`),
      () => judgeAmount(max_stake, currency, `limits.${position}.max_stake`),
      () => judgeAmount(max_payout, currency, `limits.${position}.max_payout`),
    ]),
  )
  const view = await showGame(context, account.operator_id, slug)
  const given: GameChange = {
    enabled: patch.enabled,
    limits: readPatchLimits(account, view.settings, patch.limits ?? []),
  }
  const shown = (settings: GameSettings) => {
    const { enabled, limits } = presentGame({ ...view, settings }, account.currencies)
    return { enabled, limits }
  }
  const object = { type: 'game', id: slug } as const
  return { entry: view.entry, status: view.status, given, object, shown }
}

function ownOf({ limits: before }: GameSettings, limits: GameChange['limits']) {
  return limits.map(({ currency, maxPayout = before.get(currency)?.maxPayout ?? null, ...stakes }) => {
    return [currency, { ...stakes, maxPayout }] as const
  })
}

/**
 * Sets what an account may use in place of the platform's limits; null goes back to those. @returns its
 * limits from then on. @throws ServiceError GAME_NOT_FOUND, CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR
 */
export async function setGameLimits(context: RoundsContext, asked: LimitsOrder, requestId: string) {
  const { order, operatorId, slug, currency, limits: wanted } = asked
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
export async function setGameStatus(context: RoundsContext, asked: StatusOrder, requestId: string) {
  const { order, slug, status } = asked
  const { games, audit, clock } = context
  findGame(context, slug)
  if (order.dryRun) return
  const entry = audit.entry(orderedBy(order, null, requestId), {
    act: 'game.set',
    object: { type: 'game', id: slug },
    before: { status: await games.status(slug) },
    after: { status },
  })
  await games.setStatus(slug, status, order, clock.now(), entry)
}

/** Lists the catalogue with the account's settings. Source: docs/contract.md, sections 3, 4 and 11. */
export async function listGames(context: RoundsContext, { scope, account }: Caller, query: PageQuery) {
  const { catalogue, cursors } = context
  const { items, nextCursor } = await readPage({
    cursors,
    binding: { list: 'games', scope },
    query,
    read: async (before: number | null, max) => {
      const start = before === null ? 0 : before + 1
      return catalogue.entries.slice(start, start + max)
    },
    positionOf: (entry) => catalogue.entries.indexOf(entry),
  })
  const views = items.map(({ game }) => showGame(context, account.operator_id, game.slug))
  return { items: await Promise.all(views), nextCursor }
}
