import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { ServiceError } from '@pitboss/errors/service-error'

const atOnceMax = 2
const waitingMax = 64
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const costPrefix = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`

/**
 * Hashes and verifies passwords with argon2id, at most two at a time, so that many logins at once leave the
 * processor to other work.
 * @throws ServiceError SERVICE_UNAVAILABLE while 64 others wait
 */
export async function createPasswords() {
  const gate = createGate()
  // A password for an unknown e-mail address is verified against this hash, so that it takes as long as a
  // wrong one.
  const decoy = await hash(randomBytes(24).toString('hex'), cost)
  return {
    hash: (password: string): Promise<string> => gate(() => hash(password, cost)),
    /** Whether a hash was made at another cost than today's. */
    isOutdated: (hashed: string): boolean => !hashed.startsWith(costPrefix),
    /** A null `hashed` (an unknown or invited person) takes the same time and gives false. */
    verify: (password: string, hashed: string | null): Promise<boolean> =>
      gate(async () => (await verify(hashed ?? decoy, password)) && hashed !== null),
  }
}
export type Passwords = Awaited<ReturnType<typeof createPasswords>>

function createGate() {
  let running = 0
  const waiting: (() => void)[] = []
  return async function gate<Result>(work: () => Promise<Result>): Promise<Result> {
    if (running >= atOnceMax) {
      if (waiting.length >= waitingMax) throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 2 })
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running += 1
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
