import type { Random } from '@pitboss/chaos/random'
import type { Timeline } from './timeline.ts'
import type { Faults } from './faults.ts'

/** A simulated process of one service. What it waits for never comes once it is dead. */
export type Machine = {
  readonly name: string
  isAlive(): boolean
  /** Time by the machine's own clock. */
  now(): Date
  /**
   * A step outside the process (database, stream): takes time, may fail before or after it took effect, may
   * be the last thing it does.
   */
  io<Result>(what: string, effect: () => Result): Promise<Result>
  wait(ms: number): Promise<void>
  /** Runs `then` on this machine after `ms`, unless it dies before. */
  after(ms: number, then: () => void): void
  pause(ms: number): void
  kill(): void
}

export type MachineDeps = {
  timeline: Timeline
  random: Random
  faults: Faults
  trace: (line: string) => void
  /** Milliseconds by which the clock of this machine is ahead at the moment. */
  clockAheadMs?: () => number
  onDeath: () => void
}

export function createMachine(
  name: string,
  { timeline, random, faults, trace, clockAheadMs = () => 0, onDeath }: MachineDeps,
): Machine {
  let alive = true
  let pausedUntilMs = 0

  const kill = () => {
    if (!alive) return
    alive = false
    trace(`${name} dies`)
    onDeath()
  }
  const after = (ms: number, then: () => void): void =>
    timeline.after(ms, () => {
      if (!alive) return
      const leftMs = pausedUntilMs - timeline.nowMs()
      if (leftMs > 0) after(leftMs, then)
      else then()
    })
  /** A crash between any two steps: at each of them with the same small probability. */
  const survives = () => {
    if (faults.fair() || !random.chance(faults.crash)) return true
    kill()
    return false
  }

  return {
    name,
    isAlive: () => alive,
    now: () => new Date(timeline.nowMs() + clockAheadMs()),
    after,
    kill,
    wait: (ms) => new Promise((resolve) => after(ms, resolve)),
    pause(ms) {
      pausedUntilMs = timeline.nowMs() + ms
      trace(`${name} stands still for ${ms} ms`)
    },
    io: (what, effect) =>
      new Promise((resolve, reject) => {
        const lost = () => reject(new Error(`${what}: the connection is lost`))
        after(faults.ioMs(random), () => {
          if (!survives()) return
          if (!faults.fair() && random.chance(faults.ioLost)) return after(1, lost)
          const result = effect()
          if (!survives()) return
          const answerLost = !faults.fair() && random.chance(faults.ioLost)
          after(faults.ioMs(random), answerLost ? lost : () => resolve(result))
        })
      }),
  }
}
