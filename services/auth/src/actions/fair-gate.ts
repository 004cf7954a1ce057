import { ServiceError } from '@pitboss/errors/service-error'

/** Whose work it is: tries to sign in with an address, or the work of the people of an account. */
export type Lane = { readonly signIn: string } | { readonly account: string }

/** One work of a lane runs at a time; this many of it wait. */
const laneWaitingMax = { signIn: 16, account: 3 }
/** Waiting works of each kind, over all lanes. */
const waitingMax = 256
const retryAfterS = 2

type Waiting = Map<string, (() => void)[]>

/**
 * Runs at most `atOnceMax` works at a time, one of each lane. Sign-ins go first, and the lanes of a kind take
 * turns, so that a lane with many works delays no other.
 * @throws ServiceError SERVICE_UNAVAILABLE when 16 sign-ins of an address, 3 works of an account or 256 of
 * either kind wait
 */
export function createFairGate(atOnceMax: number) {
  let runningCount = 0
  const running = new Set<string>()
  const waiting = { signIn: new Map() as Waiting, account: new Map() as Waiting }

  function startNext(): void {
    for (const lanes of [waiting.signIn, waiting.account]) {
      for (const [lane, [start, ...rest]] of lanes) {
        if (runningCount >= atOnceMax) return
        if (start === undefined || running.has(lane)) continue
        // The lane goes to the end of the turns.
        lanes.delete(lane)
        if (rest.length > 0) lanes.set(lane, rest)
        runningCount += 1
        running.add(lane)
        start()
      }
    }
  }

  return async function gate<Result>(lane: Lane, work: () => Promise<Result>): Promise<Result> {
    const [kind, name] =
      'signIn' in lane
        ? (['signIn', `e-mail/${lane.signIn}`] as const)
        : (['account', `account/${lane.account}`] as const)
    const lanes = waiting[kind]
    const own = lanes.get(name) ?? []
    const total = [...lanes.values()].flat().length
    if (own.length >= laneWaitingMax[kind] || total >= waitingMax)
      throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS })
    await new Promise<void>((start) => {
      lanes.set(name, [...own, start])
      startNext()
    })
    try {
      return await work()
    } finally {
      runningCount -= 1
      running.delete(name)
      startNext()
    }
  }
}
