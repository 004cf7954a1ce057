import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'

export type StepOptions = {
  /** False while the step waits for something that others have to do first. */
  readonly mayGo?: () => boolean
  /** Whether it goes all the same when nothing else can. */
  readonly whenIdle?: boolean
  /** Whether the process may die here instead, for ever. */
  readonly mayDie?: () => boolean
}

export type Stage = {
  /**
   * A step of a process outside of itself: it waits for its turn, does what `effects` says, and goes on with
   * the result. Of several effects each is tried; and a process is held at each of its steps for as long as
   * any order of the others takes.
   */
  step<Result>(
    process: string,
    what: string,
    effects: Readonly<Record<string, () => Result>>,
    options?: StepOptions,
  ): Promise<Result>
}

/** One run of the processes, begun again for each order. */
export type Run = {
  /** All that outlives the processes, as text. */
  stateOf(): string
  /** The invariant that this state breaks; null for none. */
  broken(): string | null
  /** Looks at the end, when no step is left: every step goes at once then, with the first of its effects. */
  brokenAtEnd(): Promise<string | null>
}

export type Schedules = {
  readonly states: number
  readonly ends: number
  readonly violation: { readonly invariant: string; readonly trace: readonly string[] } | null
}

/**
 * Runs asynchronous code in every order in which its steps can take effect. A run is begun again and led to
 * where it parts from the others; runs with the same state, whose processes have got the same messages, are
 * one. So `begin` must start code that decides by its steps' results alone: no clock, chance or id of another
 * source. Ends when there is nothing new, or with `statesMax` states.
 */
export async function exploreSchedules({
  begin,
  statesMax,
}: {
  begin: (stage: Stage) => Run
  statesMax: number
}): Promise<Schedules> {
  const seen = new Set<string>()
  const left: number[][] = [[]]
  let ends = 0
  for (let path = left.pop(); path !== undefined && seen.size < statesMax; path = left.pop()) {
    const { stage, moves, told, finish } = createStage()
    const run = begin(stage)
    const trace: string[] = []
    const found = (invariant: string) => ({ states: seen.size, ends, violation: { invariant, trace } })
    const choices = [...path]
    for (let depth = 0; ; depth++) {
      await turn()
      const invariant = run.broken()
      if (invariant !== null) return found(invariant)
      const open = moves()
      if (depth >= path.length) {
        const key = digest([run.stateOf(), told(), ...open.map(({ name }) => name)])
        if (seen.has(key)) break
        seen.add(key)
        for (let other = 1; other < open.length; other++) left.push([...choices, other])
        choices.push(0)
      }
      const move = open[choices[depth] ?? 0]
      if (move === undefined) {
        ends += 1
        finish()
        const atEnd = await run.brokenAtEnd()
        if (atEnd === null) break
        return found(atEnd)
      }
      trace.push(move.name)
      move.take()
    }
  }
  return { states: seen.size, ends, violation: null }
}

type Move = { readonly name: string; readonly take: () => void }
type Waiting = { readonly process: string; readonly moves: (isIdle: boolean) => Move[] }

function createStage() {
  let waiting: readonly Waiting[] = []
  /** Messages that each process has got so far: all that it can know. */
  const logs = new Map<string, string>()
  const dead = new Set<string>()
  let ending = false

  const note = (process: string, ...what: string[]) =>
    void logs.set(process, digest([logs.get(process) ?? '', ...what]))

  const stage: Stage = {
    async step(process, what, effects, options = {}) {
      const { mayGo = () => true, whenIdle = false, mayDie = () => false } = options
      const entries = Object.entries(effects)
      const [first] = entries
      if (first === undefined) throw new RangeError(`${what} has no effect`)
      if (ending && !dead.has(process)) return first[1]()
      return new Promise((resolve) => {
        const self: Waiting = {
          process,
          moves: (isIdle) => (mayGo() || (isIdle && whenIdle) ? [...going, ...dying()] : []),
        }
        const going = entries.map(([name, effect]) => ({
          name: `${process}: ${what}${entries.length > 1 ? ` (${name})` : ''}`,
          take() {
            waiting = waiting.filter((one) => one !== self)
            const result = effect()
            note(process, what, name, textOf(result))
            resolve(result)
          },
        }))
        const dying = () => (mayDie() ? [{ name: `${process} dies before ${what}`, take: die }] : [])
        const die = () => {
          dead.add(process)
          waiting = waiting.filter((one) => one.process !== process)
          note(process, what, 'died')
        }
        if (!dead.has(process)) waiting = [...waiting, self]
      })
    },
  }

  function moves(): Move[] {
    const inOrder = waiting.toSorted((a, b) => Number(a.process > b.process) - Number(a.process < b.process))
    const ready = inOrder.flatMap((one) => one.moves(false))
    return ready.length > 0 ? ready : inOrder.flatMap((one) => one.moves(true))
  }

  return {
    stage,
    moves,
    told: () => JSON.stringify([...logs].sort(([a], [b]) => (a < b ? -1 : 1))),
    finish() {
      ending = true
    },
  }
}

function textOf(result: unknown): string {
  const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
  return JSON.stringify(result, plain) ?? String(result)
}

function digest(parts: readonly string[]): string {
  return createHash('sha1').update(JSON.stringify(parts)).digest('base64')
}
