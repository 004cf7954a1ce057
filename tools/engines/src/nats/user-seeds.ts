import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createUser, fromSeed } from '@nats-io/nkeys'
import { z } from 'zod'
import { EngineError, errorCode, reasonOf } from '../engine-error.ts'
import type { NatsAccount } from './nats-options.ts'

const seedsFile = z.record(z.string(), z.string().startsWith('SU'))
const text = new TextDecoder()

/**
 * Gives every user without key or password a key pair, the same at each start: the seeds lie in the data
 * folder in `nkeys.json`, readable by its owner only.
 * @returns the accounts with public keys in place and the seeds by user name.
 */
export function withUserSeeds(
  dataDir: string,
  accounts: readonly NatsAccount[],
): { accounts: NatsAccount[]; seeds: Record<string, string> } {
  const path = join(dataDir, 'nkeys.json')
  const kept = readSeeds(path)
  const seeds: Record<string, string> = {}
  const keyed = accounts.map((account) => ({
    ...account,
    users: account.users.map((user) => {
      if (user.publicKey !== undefined || user.password !== undefined) return user
      const seed = seeds[user.name] ?? kept[user.name] ?? text.decode(createUser().getSeed())
      seeds[user.name] = seed
      return { ...user, publicKey: fromSeed(new TextEncoder().encode(seed)).getPublicKey() }
    }),
  }))
  const all = { ...kept, ...seeds }
  if (Object.keys(all).length > Object.keys(kept).length) {
    writeFileSync(`${path}.new`, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 })
    renameSync(`${path}.new`, path)
  }
  return { accounts: keyed, seeds }
}

function readSeeds(path: string): Record<string, string> {
  try {
    return seedsFile.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {}
    throw new EngineError(`${path} cannot be read as the keys of this data folder: ${reasonOf(error)}`)
  }
}
