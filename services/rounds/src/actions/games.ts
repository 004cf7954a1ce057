import type { AskApproval } from '@pitboss/bus/ask-approval'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { type ActedBy, orderedBy } from '@pitboss/contracts/audit'
import type { ApprovedBy } from '@pitboss/contracts/calls/approvals'
import type { Account, Caller } from '@pitboss/contracts/caller'
import type { patchGame } from '@pitboss/contracts/endpoints/sessions'
import type { Game } from '@pitboss/contracts/objects/game'
import { invalidField, readAll, ServiceError } from '@pitboss/errors/service-error'
import { formatAmount } from '@pitboss/money/amount'
import { type Page, type PageQuery, readPage } from '@pitboss/storage/read-page'
import { z } from 'zod'
import { presentGame } from '../records/present-game.ts'
import type { CatalogueEntry } from '../rules/catalogue.ts'
import {
  type AccountLimits,
  accountLimits,
  allowedLimits,
  assertCurrency,
  judgeAmount,
  type Limits,
  readAmount,
} from '../rules/limits.ts'
import type { GameChange, GameSettings } from '../storage/games-store.ts'
import type { Parts } from './parts.ts'

export type OfferedGame = {
  readonly entry: CatalogueEntry
  /**
   * The account's limits inside those that it may use.
   * @throws ServiceError CURRENCY_NOT_SUPPORTED for a code that is no currency
   */
  limits(currency: string): AccountLimits
}

export type GameAccess = ReturnType<typeof createGameAccess>

/** Creates the lookup of games that an account may offer now, with their limits. */
export function createGameAccess({ catalogue, games }: Pick<Parts, 'catalogue' | 'games'>) {
  return {
    /** @throws ServiceError GAME_NOT_FOUND */
    find(slug: string): CatalogueEntry {
      const entry = catalogue.find(slug)
      if (entry !== null) return entry
      const slugs = catalogue.entries.map(({ game }) => game.slug)
      throw new ServiceError('GAME_NOT_FOUND', {
        message: `There is no such game. Games: ${slugs.join(', ')}.`,
      })
    },

    /** @throws ServiceError GAME_NOT_FOUND, GAME_NOT_ENABLED, GAME_UNAVAILABLE, in this order. */
    async offered(operatorId: string, slug: string): Promise<OfferedGame> {
      const entry = this.find(slug)
      const [settings, status] = await Promise.all([games.settings(operatorId, slug), games.status(slug)])
      if (!settings.enabled) throw new ServiceError('GAME_NOT_ENABLED')
      if (status === 'DOWN') throw new ServiceError('GAME_UNAVAILABLE')
      return {
        entry,
        limits(currency) {
          const allowed = allowedLimits(settings, currency)
          if (allowed === null) throw new ServiceError('CURRENCY_NOT_SUPPORTED')
          return accountLimits(allowed, settings.limits.get(currency) ?? null)
        },
      }
    },
  }
}

/** One game as an account sees it. */
export type GameView = {
  readonly entry: CatalogueEntry
  readonly settings: GameSettings
  readonly status: 'AVAILABLE' | 'DOWN'
}

type GamePatch = z.output<typeof patchGame.call.request>['body']

/** An order of operations: its author and reason. A dry run checks it and changes nothing. */
type Order = { readonly by: string; readonly reason: string | null; readonly dryRun: boolean }

export type Games = ReturnType<typeof createGames>

/**
 * Creates the reads of the catalogue with an account's settings, and the changes of a game: by an account for
 * itself, by operations for the whole platform. Source: docs/contract.md, sections 3, 4 and 11.
 */
export function createGames({
  catalogue,
  games,
  access,
  cursors,
  audit,
  askApproval,
  clock,
}: Pick<Parts, 'catalogue' | 'games' | 'access' | 'cursors' | 'audit' | 'clock'> & {
  askApproval: AskApproval
}) {
  return { find, list, change, changeApproved, setLimits, setStatus }

  /** @throws ServiceError GAME_NOT_FOUND */
  async function find(operatorId: string, slug: string): Promise<GameView> {
    const entry = access.find(slug)
    const [settings, status] = await Promise.all([games.settings(operatorId, slug), games.status(slug)])
    return { entry, settings, status }
  }

  async function list({ scope, account }: Caller, query: PageQuery): Promise<Page<GameView>> {
    const { items, nextCursor } = await readPage({
      cursors,
      binding: { list: 'games', scope },
      query,
      position: z.int().min(0),
      read: async (before, max) => {
        const start = before === null ? 0 : before + 1
        return catalogue.entries.slice(start, start + max)
      },
      positionOf: (entry) => catalogue.entries.indexOf(entry),
    })
    const views = await Promise.all(items.map(({ game }) => find(account.operator_id, game.slug)))
    return { items: views, nextCursor }
  }

  /**
   * Changes the parts of the account's settings that the patch gives. To switch a game off is a grave act.
   * @throws ServiceError GAME_NOT_FOUND, CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR naming the path;
   * APPROVAL_NEEDED where the account wants a second person
   */
  async function change(
    account: Account,
    slug: string,
    patch: GamePatch,
    by: ActedBy,
    context: HandlerContext,
  ): Promise<GameView> {
    const { entry, given, status, object, shown } = await read(account, slug, patch)
    const { operator_id: operatorId } = account
    const seen = patch.enabled === false ? await games.settings(operatorId, slug) : null
    if (seen?.enabled === true) {
      const after = {
        ...seen,
        enabled: false,
        limits: new Map([...seen.limits, ...ownOf(seen, given.limits)]),
      }
      const grave = {
        ...{ by, order: { act: 'game.change', slug, patch } as const, object, seen: String(seen.version) },
        ...{ before: shown(seen), after: shown(after) },
      }
      await askApproval(grave, context)
    }
    // A game that is off is not switched off again, so that this undoes nothing that somebody else changes.
    const wanted = seen?.enabled === false ? { ...given, enabled: undefined } : given
    const settings = await games.change(operatorId, slug, wanted, clock.now(), (before, after) =>
      audit.entry(by, { act: 'game.change', object, before: shown(before), after: shown(after) }),
    )
    return { entry, settings, status }
  }

  /** Makes a change once that was approved for the settings of that version. @throws as `change` */
  async function changeApproved(
    account: Account,
    slug: string,
    patch: GamePatch,
    version: number,
    by: ApprovedBy,
  ): Promise<'done' | 'stale'> {
    const { given, object, shown } = await read(account, slug, patch)
    const approved = { version, approvalId: by.approval.approval_id }
    return games.changeSeen(account.operator_id, slug, given, approved, clock.now(), (before, after) =>
      audit.entry(by, { act: 'game.change', object, before: shown(before), after: shown(after) }),
    )
  }

  /** Judges a patch, and gives what its change and its records need. */
  async function read(account: Account, slug: string, patch: GamePatch) {
    readAll(
      ...(patch.limits ?? []).flatMap(({ currency, min_stake, max_stake, max_payout }, position) => [
        () => judgeAmount(min_stake, currency, `limits.${position}.min_stake`),
        () => judgeAmount(max_stake, currency, `limits.${position}.max_stake`),
        () => judgeAmount(max_payout, currency, `limits.${position}.max_payout`),
      ]),
    )
    const entry = access.find(slug)
    const [settings, status] = await Promise.all([
      games.settings(account.operator_id, slug),
      games.status(slug),
    ])
    const limits = readLimits(account, settings, patch.limits ?? [])
    const given: GameChange = { enabled: patch.enabled, limits }
    const shown = (settings: GameSettings) => {
      const { enabled, limits } = presentGame({ entry, settings, status }, account.currencies)
      return { enabled, limits }
    }
    return { entry, given, status, object: { type: 'game', id: slug }, shown }
  }

  /**
   * Sets what an account may use in a currency of a game, in place of the platform's limits and in either
   * direction; parts that are left out stay. Null goes back to the platform's.
   * @returns the account's limits from then on
   * @throws ServiceError GAME_NOT_FOUND, CURRENCY_NOT_SUPPORTED, VALIDATION_ERROR naming the path
   */
  async function setLimits(
    { operatorId, slug, currency }: { operatorId: string; slug: string; currency: string },
    wanted: WantedLimits | null,
    order: Order,
    requestId: string,
  ): Promise<Pick<Game, 'limits'>> {
    const entry = access.find(slug)
    const settings = await games.settings(operatorId, slug)
    const allowed = allowedLimits(settings, currency)
    if (allowed === null) throw new ServiceError('CURRENCY_NOT_SUPPORTED')
    const byOperations = { currency, limits: wanted === null ? null : readWanted(wanted, allowed, currency) }
    const change: GameChange = { enabled: undefined, limits: [], byOperations }
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
  async function setStatus(
    slug: string,
    status: 'AVAILABLE' | 'DOWN',
    order: Order,
    requestId: string,
  ): Promise<void> {
    access.find(slug)
    if (order.dryRun) return
    const entry = audit.entry(orderedBy(order, null, requestId), {
      act: 'game.set',
      object: { type: 'game', id: slug },
      before: { status: await games.status(slug) },
      after: { status },
    })
    await games.setStatus(slug, status, { by: order.by, reason: order.reason }, clock.now(), entry)
  }
}

/** The account's own limits of these currencies, once they are changed. */
function ownOf({ limits: before }: GameSettings, limits: GameChange['limits']) {
  return limits.map(({ currency, maxPayout = before.get(currency)?.maxPayout ?? null, ...stakes }) => {
    return [currency, { ...stakes, maxPayout }] as const
  })
}

type WantedLimits = { readonly [Part in 'min_stake' | 'max_stake' | 'max_payout']?: string | undefined }

function readWanted(
  { min_stake, max_stake, max_payout }: WantedLimits,
  now: Limits,
  currency: string,
): Limits {
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

function readLimits(
  account: Account,
  settings: GameSettings,
  limits: NonNullable<GamePatch['limits']>,
): GameChange['limits'] {
  const reads = limits.map(({ currency, min_stake, max_stake, max_payout }, position) => () => {
    const path = `limits.${position}`
    assertCurrency(currency, account, `${path}.currency`)
    if (limits.findIndex((one) => one.currency === currency) !== position) {
      throw invalidField(`${path}.currency`, 'is given twice')
    }
    const minStake = readAmount(min_stake, currency, `${path}.min_stake`)
    const maxStake = readAmount(max_stake, currency, `${path}.max_stake`)
    const maxPayout =
      max_payout === undefined ? undefined : readAmount(max_payout, currency, `${path}.max_payout`)
    const platform = allowedLimits(settings, currency)
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
    if (maxPayout === undefined) return { currency, minStake, maxStake }
    if (maxPayout > platform.maxPayout) {
      const most = formatAmount(platform.maxPayout, currency)
      throw invalidField(`${path}.max_payout`, `must not be above the platform's ${most}`)
    }
    if (maxPayout <= minStake) throw invalidField(`${path}.max_payout`, 'must be above min_stake')
    return { currency, minStake, maxStake, maxPayout: maxPayout === platform.maxPayout ? null : maxPayout }
  })
  return readAll(...reads)
}
