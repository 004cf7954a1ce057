import { createAskApproval, requireApproved } from '@pitboss/bus/ask-approval'
import { answer, handler, type HandlerContext, handlers } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy, orderedBy } from '@pitboss/contracts/audit'
import type { RequestOf } from '@pitboss/contracts/call'
import type { Account, Caller } from '@pitboss/contracts/caller'
import { doApproved } from '@pitboss/contracts/calls/approvals'
import { opsSetGame, opsSetGameLimits } from '@pitboss/contracts/calls/rounds'
import * as api from '@pitboss/contracts/endpoints/sessions'
import { invalidField, readAll, ServiceError } from '@pitboss/errors/service-error'
import { formatAmount } from '@pitboss/money/amount'
import { answerPage, type PageQuery, readPage } from '@pitboss/storage/read-page'
import { findGame, showGame } from '../../actions/offered-game.ts'
import type { RoundsContext } from '../../context.ts'
import { presentGame } from '../../records/present-session.ts'
import {
  allowedLimits,
  assertCurrency,
  type ChangedLimits,
  type Granted,
  judgeAmount,
  type Limits,
  readAmount,
} from '../../rules/limits.ts'
import type { GameChange, GameSettings } from '../../storage/games-store.ts'
import type { Wing } from '../../wing.ts'

/** The catalogue with an account's settings, and their changes. Source: docs/contract.md, section 3. */
export const games: Wing = {
  open: (context) => ({
    calls: [
      ...handlers([api.listGames.call, api.dashboardListGames.call], async ({ caller, query }) => {
        const { currencies } = caller.account
        return answerPage(await listGames(context, caller, query), (view) => presentGame(view, currencies))
      }),
      handler(api.getGame.call, async ({ caller: { account }, params }) =>
        answer(presentGame(await showGame(context, account.operator_id, params.slug), account.currencies)),
      ),
      ...handlers([api.patchGame.call, api.dashboardPatchGame.call], async (asked, call) => {
        const { account } = asked.caller
        const wanted = { account, slug: asked.params.slug, patch: asked.body }
        const view = await changeGame(context, wanted, actedBy(asked.caller, call), call)
        return answer(presentGame(view, account.currencies))
      }),
      handler(doApproved.game, async (approved, call) => {
        const { order, seen, by } = approved
        await requireApproved({ order, seen, by }, { bus: context.bus, context: call })
        return { result: await changeApprovedGame(context, approved) }
      }),
      handler(opsSetGameLimits, async (asked, { requestId }) => ({
        slug: asked.slug,
        ...(await setGameLimits(context, asked, requestId)),
      })),
      handler(opsSetGame, async (asked, { requestId }) => {
        await setGameStatus(context, asked, requestId)
        return { slug: asked.slug, status: asked.status }
      }),
    ],
  }),
}

type LimitsOrder = RequestOf<typeof opsSetGameLimits>
type GamePatch = RequestOf<typeof api.patchGame.call>['body']
const limitNames = ['min_stake', 'max_stake', 'max_payout'] as const

type Asked = { readonly account: Account; readonly slug: string; readonly patch: GamePatch }

/**
 * Changes the account's settings of a game. Switching it off is a grave act. Source: docs/contract.md,
 * section 3. @throws ServiceError GAME_NOT_FOUND, CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR; APPROVAL_NEEDED
 */
async function changeGame(context: RoundsContext, asked: Asked, by: ActedBy, call: HandlerContext) {
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
async function changeApprovedGame(
  context: RoundsContext,
  { account, order, seen, by }: RequestOf<typeof doApproved.game>,
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
    ...(patch.limits ?? []).flatMap((limits, at) =>
      limitNames.map((name) => () => judgeAmount(limits[name], limits.currency, `limits.${at}.${name}`)),
    ),
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

/** Sets what an account may use in place of the platform's limits; null goes back to those. */
async function setGameLimits(context: RoundsContext, asked: LimitsOrder, requestId: string) {
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
async function setGameStatus(context: RoundsContext, asked: RequestOf<typeof opsSetGame>, requestId: string) {
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
async function listGames(context: RoundsContext, { scope, account }: Caller, query: PageQuery) {
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

/** Reads wanted limits; omitted parts stay. @throws ServiceError VALIDATION_ERROR naming the path */
function readWantedLimits(wanted: NonNullable<LimitsOrder['limits']>, now: Limits, currency: string): Limits {
  const { min_stake, max_stake, max_payout } = wanted
  const read = (text: string | undefined, present: bigint, path: string) =>
    text === undefined ? present : readAmount(text, currency, path)
  const minStake = read(min_stake, now.minStake, 'min_stake')
  const maxStake = read(max_stake, now.maxStake, 'max_stake')
  const maxPayout = read(max_payout, now.maxPayout, 'max_payout')
  if (minStake === 0n) throw invalidField('min_stake', 'must be above zero')
  if (minStake > maxStake) throw invalidField('min_stake', 'must not be above max_stake')
  if (maxPayout <= minStake) throw invalidField('max_payout', 'must be above min_stake')
  return { minStake, maxStake, maxPayout }
}

/** Reads a patch, inside what is allowed. @throws ServiceError CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR */
function readPatchLimits(
  account: Account,
  settings: Granted,
  limits: NonNullable<GamePatch['limits']>,
): ChangedLimits[] {
  const reads = limits.map(({ currency, min_stake, max_stake, max_payout }, position) => () => {
    const path = `limits.${position}`
    assertCurrency(currency, account, `${path}.currency`)
    if (limits.findIndex((one) => one.currency === currency) !== position)
      throw invalidField(`${path}.currency`, 'is given twice')
    const minStake = readAmount(min_stake, currency, `${path}.min_stake`)
    const maxStake = readAmount(max_stake, currency, `${path}.max_stake`)
    const maxPayout =
      max_payout === undefined ? undefined : readAmount(max_payout, currency, `${path}.max_payout`)
    const platform = allowedLimits(settings, currency)
    if (platform === null) throw invalidField(`${path}.currency`, 'is not a currency')
    const beyond = (field: string, side: 'above' | 'below', bound: bigint) =>
      invalidField(`${path}.${field}`, `must not be ${side} the platform's ${formatAmount(bound, currency)}`)
    if (minStake < platform.minStake) throw beyond('min_stake', 'below', platform.minStake)
    if (maxStake > platform.maxStake) throw beyond('max_stake', 'above', platform.maxStake)
    if (minStake > maxStake) throw invalidField(`${path}.min_stake`, 'must not be above max_stake')
    if (maxPayout === undefined) return { currency, minStake, maxStake }
    if (maxPayout > platform.maxPayout) throw beyond('max_payout', 'above', platform.maxPayout)
    if (maxPayout <= minStake) throw invalidField(`${path}.max_payout`, 'must be above min_stake')
    return { currency, minStake, maxStake, maxPayout: maxPayout === platform.maxPayout ? null : maxPayout }
  })
  return readAll(...reads)
}
