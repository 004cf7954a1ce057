import type { ActedBy } from '@pitboss/contracts/audit'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import type { putLimits } from '@pitboss/contracts/endpoints/players'
import type {
  PlayerLimits as LimitsRecord,
  WantedLimit as Wanted,
} from '@pitboss/contracts/objects/player-limits'
import { invalidField } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { changeFenced } from '@pitboss/storage/change-fenced'
import type { z } from 'zod'
import { presentLimits, presentWanted } from '../records/present-player-limits.ts'
import { emptyBook } from '../rules/limit-book.ts'
import { assertCurrency, readAmount } from '../rules/limits.ts'
import { changeLimits, limitKey, type WantedLimit } from '../rules/player-limits.ts'
import type { LimitChange, PlayerLimitsStore } from '../storage/player-limits-store.ts'
import type { ReadLimits } from './hold-limits.ts'
import type { Parts } from './parts.ts'

type PutBody = z.output<typeof putLimits.call.request>['body']

type Asked = Pick<LimitChange, 'limits' | 'reason'>

const triesMax = 12
const changesMax = 50

export type PlayerLimits = ReturnType<typeof createPlayerLimits>

/** Creates the limits of players. Source: docs/contract.md, section 4, "Limits of a player". */
export function createPlayerLimits({
  playerLimits,
  reading,
  sessions,
  audit,
  clock,
}: Pick<Parts, 'sessions' | 'audit' | 'clock'> & {
  playerLimits: Pick<PlayerLimitsStore, 'begin' | 'set'>
  reading: ReadLimits
}) {
  return { show, put }

  /** The player's limits and how they stand now; without any for a player who never had one. */
  async function show(scope: Scope, playerId: string): Promise<LimitsRecord> {
    const state = (await reading.read(scope, playerId)) ?? {
      stored: { version: 0, limits: [], changes: [], book: emptyBook },
      limits: [],
      book: emptyBook,
      now: reading.databaseNow(),
    }
    return presentLimits({ scope, playerId, state, played: await reading.played(scope, playerId, state) })
  }

  /**
   * Sets all limits of a player. Its document is there, and its sessions are marked, before the first limit
   * is: so with the answer every stake is held against it, and a crash leaves either no limit or one that
   * holds. Asking for the same again changes nothing.
   * @param by who is audited: the person, or the operator's server
   * @throws ServiceError VALIDATION_ERROR for an amount, or a limit that is named twice;
   * CURRENCY_NOT_SUPPORTED
   */
  async function put(
    caller: Caller,
    playerId: string,
    { limits, reason }: PutBody,
    by: ActedBy,
  ): Promise<LimitsRecord> {
    const { scope } = caller
    const wanted = readWanted(limits, caller)
    await playerLimits.begin(scope, playerId)
    await sessions.markLimited(scope, playerId, clock.now())
    await failpoint('rounds.limits-begun')
    await changeFenced({
      document: await readBegun(scope, playerId),
      reread: () => readBegun(scope, playerId),
      change: async ({ stored, now }) => {
        const [last] = stored.changes.slice(-1)
        if (last !== undefined && isSame(last, { limits: wanted, reason: reason ?? null })) return true
        const next = changeLimits(stored.limits, wanted, now)
        const changes = [...stored.changes, { at: now, reason: reason ?? null, limits: wanted }].slice(
          -changesMax,
        )
        const entry = entryOf(by, playerId, last?.limits ?? null, wanted)
        const isFirst = await playerLimits.set(
          scope,
          playerId,
          stored.version,
          { limits: next, changes },
          entry,
        )
        return isFirst ? true : null
      },
      triesMax,
      name: `limits of ${playerId}`,
    })
    return show(scope, playerId)
  }

  async function readBegun(scope: Scope, playerId: string) {
    const state = await reading.read(scope, playerId)
    if (state === null) throw new Error(`the limits of ${playerId} are gone`)
    return state
  }

  function entryOf(
    by: ActedBy,
    playerId: string,
    before: readonly WantedLimit[] | null,
    after: readonly WantedLimit[],
  ) {
    const shown = (limits: readonly WantedLimit[]) => ({ limits: limits.map(presentWanted) })
    return audit.entry(by, {
      act: 'player.set-limits',
      object: { type: 'player', id: playerId },
      before: before === null ? null : shown(before),
      after: shown(after),
    })
  }
}

function isSame(last: Asked, asked: Asked): boolean {
  const text = ({ limits, reason }: Asked) => JSON.stringify([limits.map(presentWanted), reason])
  return text(last) === text(asked)
}

function readWanted(limits: readonly Wanted[], { account }: Caller): WantedLimit[] {
  const read = limits.map((limit, at): WantedLimit => {
    const { period } = limit
    if (limit.kind === 'time') return { kind: 'time', period, currency: null, value: BigInt(limit.minutes) }
    const { kind, currency, amount } = limit
    assertCurrency(currency, account, `limits.${at}.currency`)
    return { kind, period, currency, value: readAmount(amount, currency, `limits.${at}.amount`) }
  })
  const keys = read.map(limitKey)
  const twice = keys.findIndex((key, at) => keys.indexOf(key) !== at)
  if (twice >= 0) throw invalidField(`limits.${twice}`, 'is named twice')
  return read
}
