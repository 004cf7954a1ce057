import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { EngineError } from '../engine-error.ts'
import { processRecord } from '../processes/process-record.ts'
import { waitUntil } from '../processes/wait-until.ts'
import { newUserSeed, publicKeyOf, readUserSeeds, writeUserSeeds } from './nats-configuration.ts'

const reloadWithinMs = 30_000
const configuration = z.looseObject({
  http: z.string(),
  accounts: z.record(
    z.string(),
    z.looseObject({ users: z.array(z.looseObject({ nkey: z.string().optional() })) }),
  ),
})
type Configuration = z.infer<typeof configuration>
type User = Configuration['accounts'][string]['users'][number]
const varz = z.object({ config_load_time: z.string() })

export type ExchangedKeys = {
  /** The seeds by user name from before, and those that stand beside them now. */
  readonly former: Readonly<Record<string, string>>
  readonly seeds: Readonly<Record<string, string>>
  /** Takes the former keys out of the configuration; the server ends the connections that used them. */
  dropFormer(): Promise<void>
}

/**
 * Gives every user with a key of a running server's data folder a second one with the same rights. Both are
 * good until `dropFormer`. The seeds of the folder are the new ones from then on. Source: docs/runbook.md,
 * "Exchanging the other secrets".
 * @param dataDir the folder that was given to `startNats`
 * @throws EngineError when the server does not take the configuration within 30 s
 */
export async function exchangeUserKeys(dataDir: string): Promise<ExchangedKeys> {
  const folder = join(dataDir, 'nats')
  const former = readUserSeeds(folder)
  const seeds = Object.fromEntries(Object.keys(former).map((name) => [name, newUserSeed()]))
  const nextOf = new Map(
    Object.entries(former).map(([name, seed]) => [publicKeyOf(seed), publicKeyOf(seeds[name] ?? '')]),
  )
  const withNext = (user: User) => {
    const next = nextOf.get(user.nkey ?? '')
    return next === undefined ? [user] : [user, { ...user, nkey: next }]
  }
  await changeUsers(folder, withNext)
  writeUserSeeds(folder, seeds)
  return {
    former,
    seeds,
    dropFormer: () => changeUsers(folder, (user) => (nextOf.has(user.nkey ?? '') ? [] : [user])),
  }
}

/** Writes the configuration with other users and has the server read it. */
async function changeUsers(folder: string, change: (user: User) => User[]): Promise<void> {
  const path = join(folder, 'nats.conf')
  const present = configuration.parse(JSON.parse(readFileSync(path, 'utf8')))
  const accounts = Object.fromEntries(
    Object.entries(present.accounts).map(([name, account]) => [
      name,
      { ...account, users: account.users.flatMap(change) },
    ]),
  )
  const before = await loadTime(present)
  writeFileSync(`${path}.new`, `${JSON.stringify({ ...present, accounts }, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${path}.new`, path)
  const server = processRecord(join(folder, 'processes'))
    .living()
    .find(({ name }) => name === 'nats-server')
  if (server === undefined) throw new EngineError(`no nats-server runs on ${folder}`)
  process.kill(server.pid, 'SIGHUP')
  const isReloaded = async () => ((await loadTime(present)) === before ? null : true)
  if ((await waitUntil(isReloaded, { timeoutMs: reloadWithinMs })) === null) {
    throw new EngineError(`nats-server did not take ${path}; ${join(folder, 'nats.log')} says why`)
  }
}

async function loadTime({ http }: Configuration): Promise<string> {
  const answer = await fetch(`http://${http}/varz`, { signal: AbortSignal.timeout(reloadWithinMs) })
  return varz.parse(await answer.json()).config_load_time
}
