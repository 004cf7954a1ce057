import { badSettingExitCode, EngineError, reasonOf } from '../engine-error.ts'
import type { Progress } from '../fetch/progress.ts'
import { findProgram } from '../engine-settings.ts'
import { type Attempt, firstThatWorks } from '../try-ways.ts'
import { fetchNatsDebian, fetchNatsRelease, isNatsDebianCached, isNatsReleaseCached } from './fetch-nats.ts'
import { natsProgramVersion, requireNatsVersion } from './nats-version.ts'

export type NatsChoice =
  | { kind: 'external'; url: string; reason: string }
  | { kind: 'nats-server' | 'release' | 'debian'; program: string; reason: string }

/**
 * Chooses the broker, by docs/contract.md, section 9: the URL, the program on the PATH if it is new enough,
 * then a fetched one; the cache comes before a download.
 * @throws EngineError with the remedies when there is none; or when NATS_SERVER_BIN names an unusable
 * program.
 */
export async function chooseNats(options: {
  env: NodeJS.ProcessEnv
  cacheDir: string
  progress: Progress
}): Promise<NatsChoice> {
  const { env, cacheDir, progress } = options
  if (env.NATS_URL) return { kind: 'external', url: env.NATS_URL, reason: 'NATS_URL is set' }
  const attempts: Attempt[] = [{ way: 'NATS_URL', outcome: 'not set' }]
  const found = findProgram(env, 'NATS_SERVER_BIN', 'nats-server')
  if (found === null) attempts.push({ way: 'nats-server on the PATH', outcome: 'not there' })
  else {
    try {
      const version = await natsProgramVersion(found.path)
      requireNatsVersion(version, found.path)
      return { kind: 'nats-server', program: found.path, reason: `${found.path} (${found.from})` }
    } catch (error) {
      if (found.from === 'NATS_SERVER_BIN') {
        throw new EngineError(`NATS_SERVER_BIN cannot be used: ${reasonOf(error)}`, {
          exitCode: badSettingExitCode,
          cause: error,
        })
      }
      progress.step(reasonOf(error))
      attempts.push({ way: 'nats-server on the PATH', outcome: reasonOf(error) })
    }
  }
  const refused = found === null ? 'no nats-server on the PATH' : 'the nats-server on the PATH is unusable'
  const ways = [
    {
      kind: 'release' as const,
      way: 'the official release',
      isCached: isNatsReleaseCached(cacheDir),
      fetch: () => fetchNatsRelease(cacheDir, progress),
    },
    {
      kind: 'debian' as const,
      way: "Debian's package",
      isCached: isNatsDebianCached(cacheDir),
      fetch: () => fetchNatsDebian(cacheDir, progress),
    },
  ].sort((a, b) => Number(b.isCached) - Number(a.isCached))
  return firstThatWorks(
    'nats',
    attempts,
    ways.map(({ kind, way, isCached, fetch }) => ({
      way,
      use: async () => {
        const program = await fetch()
        progress.done()
        return { kind, program, reason: `${refused}; ${way}, ${isCached ? 'from the cache' : 'fetched'}` }
      },
    })),
  )
}
