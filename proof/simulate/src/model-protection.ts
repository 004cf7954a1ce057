import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { GameStart } from '@pitboss/rounds/wings/protection/rules/stop'
import type { PacesStore } from '@pitboss/rounds/wings/protection/storage/paces-store'
import type { StopDocument, StopsStore } from '@pitboss/rounds/wings/protection/storage/stops-store'
import type { Machine } from './machine.ts'
import { notSimulated } from './not-simulated.ts'

export type ModelProtection = {
  readonly stops: ReadonlyMap<string, StopDocument>
  stopsOf(machine: Machine): StopsStore
  pacesOf(machine: Machine): PacesStore
  /** When the player started a game last; minus infinity for never. */
  lastStartMs(scope: Scope, playerId: string): number
  nextDueMs(): number
}

/**
 * The collections of stops and of last game starts, with the promises of storage/stops-store.ts and
 * storage/paces-store.ts: a player has one stop that counts, and one last start. Signatures are not
 * simulated.
 * @param onSettled gets a stop whose rounds are said to have ended
 * @param wrote is called when a machine writes: from then on it reads the newest state
 */
export function createModelProtection({
  onSettled,
  wrote,
}: {
  onSettled: (stop: StopDocument) => void
  wrote: (machine: Machine) => void
}): ModelProtection {
  const stops = new Map<string, StopDocument>()
  const starts = new Map<string, GameStart>()
  const ofPlayer = (scope: Scope, playerId: string) =>
    [...stops.values()].filter((one) => one.scope === scopeKey(scope) && one.playerId === playerId)
  const counting = (scope: Scope, playerId: string) => ofPlayer(scope, playerId).find((one) => one.inForce)
  const put = (stop: StopDocument): StopDocument => {
    stops.set(stop._id, stop)
    return stop
  }

  return {
    stops,
    stopsOf(machine) {
      const writing = <Result>(what: string, effect: () => Result): Promise<Result> =>
        machine.io(what, () => {
          wrote(machine)
          return effect()
        })
      return {
        current: (scope, playerId) => machine.io('current stop', () => counting(scope, playerId) ?? null),
        async begin(stop) {
          await writing('leave a stop that is over', () => {
            const before = counting(stop, stop.playerId)
            if (before !== undefined && before.endsAt <= stop.from) put({ ...before, inForce: false })
          })
          return writing('begin stop', () => {
            if (counting(stop, stop.playerId) !== undefined) return false
            put(stop)
            return true
          })
        },
        extend: (scope, stopId, changes, now) =>
          writing('extend stop', () => {
            const found = stops.get(stopId)
            const isOwn = found?.scope === scopeKey(scope) && found.inForce
            const isLater = isOwn && found.endsAt > now && found.endsAt <= changes.endsAt
            return isLater ? put({ ...found, ...changes }) : null
          }),
        lift: (scope, playerId, now, liftReason) =>
          writing('lift stop', () => {
            const found = counting(scope, playerId)
            if (found === undefined || found.endsAt <= now) return null
            return put({ ...found, inForce: false, liftedAt: now, liftReason })
          }),
        list: (scope, playerId, { before, max }) =>
          machine.io('list stops', () =>
            ofPlayer(scope, playerId)
              .filter(({ _id }) => before === null || _id < before)
              .toSorted((a, b) => (a._id < b._id ? 1 : -1))
              .slice(0, max),
          ),
        findDue: (now) =>
          machine.io('due stops', () =>
            [...stops.values()].filter(({ dueAt }) => dueAt !== null && dueAt <= now),
          ),
        postpone: (stopId, dueAt) =>
          writing('postpone stop', () => {
            const found = stops.get(stopId)
            if (found !== undefined && found.dueAt !== null) put({ ...found, dueAt })
          }),
        settle: (stopId, roundsEndedAt, lastBet) =>
          writing('settle stop', () => {
            const found = stops.get(stopId)
            if (found === undefined || found.dueAt === null) return
            onSettled(put({ ...found, roundsEndedAt, lastBet, dueAt: null }))
          }),
        findUnsigned: notSimulated,
        keepRecord: notSimulated,
        keepSignature: notSimulated,
      }
    },
    pacesOf: (machine) => ({
      last: (scope, playerId) =>
        machine.io('last game start', () => starts.get(`${scopeKey(scope)}/${playerId}`) ?? null),
      start: (scope, playerId, start, { madeAt, notAfter }) =>
        machine.io('game start', () => {
          const key = `${scopeKey(scope)}/${playerId}`
          const last = starts.get(key)
          const isRepeat = last?.startedBy === start.startedBy && last.startedAt <= madeAt
          const mayStart = last === undefined || last.startedAt <= notAfter || isRepeat
          if (mayStart) starts.set(key, start)
          return mayStart
        }),
    }),
    lastStartMs: (scope, playerId) =>
      starts.get(`${scopeKey(scope)}/${playerId}`)?.startedAt.getTime() ?? Number.NEGATIVE_INFINITY,
    nextDueMs: () =>
      Math.min(...[...stops.values()].map(({ dueAt }) => dueAt?.getTime() ?? Number.POSITIVE_INFINITY)),
  }
}
