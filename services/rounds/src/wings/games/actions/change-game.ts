import { createAskApproval } from '@pitboss/bus/ask-approval'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { ActedBy } from '@pitboss/contracts/audit'
import type { ApprovedBy } from '@pitboss/contracts/calls/approvals'
import type { Account } from '@pitboss/contracts/caller'
import { readAll } from '@pitboss/errors/service-error'
import { showGame } from '../../../actions/offered-game.ts'
import type { RoundsContext } from '../../../context.ts'
import { type GameView, presentGame } from '../../../records/present-game.ts'
import { judgeAmount } from '../../../rules/limits.ts'
import type { GameChange, GameSettings } from '../../../storage/games-store.ts'
import { type GamePatch, readPatchLimits } from '../rules/wanted-limits.ts'

/**
 * Changes the account's settings of a game. Switching it off is a grave act. Source: docs/contract.md,
 * sections 3, 4, 11.
 * @throws ServiceError GAME_NOT_FOUND, CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR; APPROVAL_NEEDED
 */
export async function changeGame(
  context: RoundsContext,
  account: Account,
  slug: string,
  patch: GamePatch,
  by: ActedBy,
  call: HandlerContext,
): Promise<GameView> {
  const { games, audit, clock, bus } = context
  const { entry, given, status, object, shown } = await readPatch(context, account, slug, patch)
  const { operator_id: operatorId } = account
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
  account: Account,
  slug: string,
  patch: GamePatch,
  version: number,
  by: ApprovedBy,
): Promise<'done' | 'stale'> {
  const { games, audit, clock } = context
  const { given, object, shown } = await readPatch(context, account, slug, patch)
  const approved = { version, approvalId: by.approval.approval_id }
  return games.changeSeen(account.operator_id, slug, given, approved, clock.now(), (before, after) =>
    audit.entry(by, { act: 'game.change', object, before: shown(before), after: shown(after) }),
  )
}

async function readPatch(context: RoundsContext, account: Account, slug: string, patch: GamePatch) {
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
