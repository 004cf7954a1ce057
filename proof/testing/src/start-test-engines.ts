import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMongodb } from '@pitboss/engines/start-mongodb'
import { startNats } from '@pitboss/engines/start-nats'
import { z } from 'zod'

/** Content of PITBOSS_TEST_ENGINES, as JSON: one pair of engines for all processes of a test run. */
export const testEnginesSchema = z.object({
  mongodb_url: z.string(),
  nats_url: z.string(),
  /** Accounts `T0`, `T1`, … with one user `t0`, `t1`, … each, password `t`. */
  nats_accounts: z.number().int().positive(),
  /** Folder in which processes note which account they hold. */
  claims_dir: z.string().optional(),
})

export type TestEngines = z.infer<typeof testEnginesSchema>

export const testPassword = 't'

/**
 * Starts a pair of engines with empty data folders that are removed when they stop. `MONGODB_URL` chooses the
 * database as everywhere; the broker is always one of our own, because suites need accounts to themselves.
 */
export async function startTestEngines(accounts: number): Promise<{
  engines: TestEngines
  description: string
  stop: () => Promise<void>
}> {
  const folder = mkdtempSync(join(tmpdir(), 'pitboss-test-'))
  // the database may run as another user than this one, who must be able to pass
  chmodSync(folder, 0o755)
  const { NATS_URL: _, ...env } = process.env
  const users = Array.from({ length: accounts }, (_unused, index) => ({
    name: `T${index}`,
    users: [{ name: `t${index}`, password: testPassword }],
  }))
  const [mongodb, nats] = await Promise.allSettled([
    startMongodb({ dataDir: join(folder, 'mongodb'), env }),
    startNats({ dataDir: folder, accounts: users, env }),
  ])
  const stop = async () => {
    const started = [mongodb, nats].flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    await Promise.all(started.map((engine) => engine.stop()))
    rmSync(folder, { recursive: true, force: true })
  }
  if (mongodb.status === 'rejected' || nats.status === 'rejected') {
    await stop()
    throw mongodb.status === 'rejected' ? mongodb.reason : nats.status === 'rejected' ? nats.reason : null
  }
  const claims = join(folder, 'claims')
  mkdirSync(claims)
  return {
    engines: {
      mongodb_url: mongodb.value.url,
      nats_url: nats.value.url,
      nats_accounts: accounts,
      claims_dir: claims,
    },
    description: `${mongodb.value.kind} ${mongodb.value.version} and nats-server ${nats.value.version} (${nats.value.kind})`,
    stop,
  }
}
