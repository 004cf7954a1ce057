import type { Socket } from 'node:net'

/** Bytes, the orderly end of a connection, or its reset. */
type Item = Buffer | 'end' | 'reset'

export type Lane = {
  push(item: Item): void
  /** Holds back what comes from now on, or lets everything flow that was held. */
  hold(held: boolean): void
  /** Throws away what comes from now on. */
  lose(lost: boolean): void
  /** Time in ms by which everything from now on arrives later. */
  delay(ms: number): void
  /** Whether something was thrown away: the connection cannot go on. */
  hasLost(): boolean
}

/**
 * One direction of a connection. What was held arrives in order once it flows again, as TCP sends again what
 * a cut has swallowed.
 * @param onTouched is told of everything that is held, delayed or thrown away
 */
export function createLane(to: Socket, onTouched: () => void): Lane {
  const held: Item[] = []
  let isHeld = false
  let isLost = false
  let hasLost = false
  let delayMs = 0
  const late: { item: Item; dueAtMs: number }[] = []

  const deliver = (item: Item) => {
    if (to.destroyed) return
    if (item === 'reset') to.resetAndDestroy()
    else if (item === 'end') to.end()
    else to.write(item)
  }
  const arrive = (item: Item) => {
    if (isHeld) {
      held.push(item)
      onTouched()
    } else deliver(item)
  }
  const arriveLate = () => {
    while (late[0] !== undefined && late[0].dueAtMs <= performance.now()) {
      const first = late.shift()
      if (first !== undefined) arrive(first.item)
    }
    if (late[0] !== undefined) setTimeout(arriveLate, Math.max(0, late[0].dueAtMs - performance.now()))
  }
  return {
    push(item) {
      if (isLost && item !== 'reset') {
        hasLost = true
        onTouched()
      } else if (delayMs === 0 && late.length === 0) arrive(item)
      else {
        const last = late.at(-1)
        late.push({ item, dueAtMs: Math.max(last?.dueAtMs ?? 0, performance.now() + delayMs) })
        if (last === undefined) setTimeout(arriveLate, delayMs)
        onTouched()
      }
    },
    hold(given) {
      isHeld = given
      if (!isHeld) for (const item of held.splice(0)) deliver(item)
    },
    lose(lost) {
      isLost = lost
    },
    delay(ms) {
      delayMs = ms
    },
    hasLost: () => hasLost,
  }
}
