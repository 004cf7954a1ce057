import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '@pitboss/testing/wait-for'
import type { Answer } from '../send.ts'

const betweenMs = 100
const givesUpAfterMs = 240_000
const turnsPerWait = 6

/** A client that asks the same kind of thing turn after turn. */
export type Seat = {
  readonly name: string
  /** One request; the same turn repeats it. Status 0 stands for a lost connection. */
  ask(turn: number): Promise<Answer>
  /** Gets a token again, as a client does whose token is refused. */
  renew(): Promise<void>
}

/** What clients saw: answers, repeats by reason, tokens got anew, and what was said to be refused. */
export type Seen = {
  served: number
  /** The turn that took longest from its first request until it was served. */
  slowest: { client: string; ms: number } | null
  repeated: Map<string, number>
  renewed: number
  expected: Map<string, number>
  /** Refusals that a client could not repeat. */
  lost: Record<string, unknown>[]
}

export type ClientsAtWork = {
  /** Resolves when every client has been served six times more, or work has ended. */
  playOn(): Promise<void>
  /** Lets them work for so many ms. */
  playFor(ms: number): Promise<void>
  /** Whether a client whose token is refused gets another one, as it has to. */
  mayRenew(isSo: boolean): void
  /** The codes that a client may get in this step; it goes on with its next turn. */
  mayRefuse(...codes: string[]): void
  /** What was seen since the last look. */
  look(): Seen
  end(): Promise<void>
}

/**
 * Puts clients to work. Each repeats what may be repeated until it is served, as the contract tells it to.
 */
export function startClients(seats: readonly Seat[]): ClientsAtWork {
  let seen = nothing()
  let isOver = false
  let renews = false
  let expected: string[] = []
  /** Turns of each client that were served. */
  const turns = new Map<string, number>()

  async function work(seat: Seat): Promise<void> {
    for (let turn = 1; !isOver; turn++) {
      const what = `turn ${turn} of ${seat.name}`
      const fromMs = performance.now()
      await waitFor(() => tryTurn(seat, turn), { timeoutMs: givesUpAfterMs, everyMs: betweenMs, what })
      const ms = performance.now() - fromMs
      if (!isOver && ms > (seen.slowest?.ms ?? 0)) seen.slowest = { client: seat.name, ms }
      await delay(betweenMs)
    }
  }

  /** Whether the turn is over. */
  async function tryTurn(seat: Seat, turn: number): Promise<boolean> {
    const { status, body } = await seat.ask(turn)
    const code = status === 0 ? 'no answer' : String(body.code)
    if (status > 0 && status < 300) {
      seen.served += 1
      turns.set(seat.name, (turns.get(seat.name) ?? 0) + 1)
      return true
    }
    if (status === 0 || body.retryable === true) {
      add(seen.repeated, code)
      return isOver
    }
    if (status === 401 && renews) {
      await seat.renew()
      seen.renewed += 1
      return isOver
    }
    if (expected.includes(code)) add(seen.expected, code)
    else seen.lost.push({ client: seat.name, turn, status, ...body })
    return true
  }

  const working = Promise.all(seats.map(work))
  working.catch((error: unknown) => seen.lost.push({ client: 'one that gave up', error: String(error) }))

  return {
    async playOn() {
      const goals = new Map(seats.map(({ name }) => [name, (turns.get(name) ?? 0) + turnsPerWait]))
      await waitFor(
        () =>
          isOver ||
          seen.lost.length > 0 ||
          [...goals].every(([name, goal]) => (turns.get(name) ?? 0) >= goal),
        { timeoutMs: givesUpAfterMs, what: 'every client to be served' },
      )
    },
    playFor: (ms) => delay(ms),
    mayRenew(isSo) {
      renews = isSo
    },
    mayRefuse(...codes) {
      expected = codes
    },
    look() {
      const found = seen
      seen = nothing()
      return found
    },
    async end() {
      isOver = true
      await working
    },
  }
}

function nothing(): Seen {
  return { served: 0, slowest: null, repeated: new Map(), renewed: 0, expected: new Map(), lost: [] }
}

function add(counts: Map<string, number>, code: string): void {
  counts.set(code, (counts.get(code) ?? 0) + 1)
}
