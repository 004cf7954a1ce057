import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { createFairGate, type Lane } from './fair-gate.ts'

const atOnceMax = 2
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const costPrefix = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$`

/**
 * Hashes and verifies passwords with argon2id, at most two at a time, so that many logins at once leave the
 * processor to other work. Each work names its lane; a lane has one place.
 * @throws ServiceError SERVICE_UNAVAILABLE while too many works of the lane wait
 */
export async function createPasswords() {
  const gate = createFairGate(atOnceMax)
  // A password for an unknown e-mail address is verified against this hash, so that it takes as long as a
  // wrong one.
  const decoy = await hash(randomBytes(24).toString('hex'), cost)
  return {
    hash: (password: string, lane: Lane): Promise<string> => gate(lane, () => hash(password, cost)),
    /** Whether a hash was made at another cost than today's. */
    isOutdated: (hashed: string): boolean => !hashed.startsWith(costPrefix),
    /** A null `hashed` (an unknown or invited person) takes the same time and gives false. */
    verify: (password: string, hashed: string | null, lane: Lane): Promise<boolean> =>
      gate(lane, async () => (await verify(hashed ?? decoy, password)) && hashed !== null),
  }
}
export type Passwords = Awaited<ReturnType<typeof createPasswords>>
