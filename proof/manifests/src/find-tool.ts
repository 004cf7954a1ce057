import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, findProgram } from '@pitboss/engines/engine-settings'
import { cachedFolder } from '@pitboss/engines/fetch/cached-folder'
import { aptObstacle, debianSuite, withPrivateApt } from '@pitboss/engines/fetch/private-apt'
import { createProgress } from '@pitboss/engines/fetch/progress'
import { runProgram } from '@pitboss/engines/fetch/run-program'

const freeBytesMin = 200e6

/** Program and first arguments of a command that renders a folder. */
export type Renderer = { readonly program: string; readonly args: readonly string[] }

/**
 * Finds kustomize: `KUSTOMIZE_BIN`, the PATH, the kubectl of the PATH, else Debian's package, fetched once
 * into the cache of the engines and never installed.
 * @throws EngineError when there is none and none can be fetched
 */
export async function findKustomize(env: NodeJS.ProcessEnv = process.env): Promise<Renderer> {
  const kustomize = findProgram(env, 'KUSTOMIZE_BIN', 'kustomize')
  if (kustomize !== null) return { program: kustomize.path, args: ['build'] }
  const kubectl = findProgram(env, 'KUBECTL_BIN', 'kubectl')
  if (kubectl !== null) return { program: kubectl.path, args: ['kustomize'] }
  return { program: await fetchProgram(env, 'kustomize'), args: ['build'] }
}

/** Programs of Prometheus and its Alertmanager: the variable that names one, and Debian's package that has it. */
const programs = {
  promtool: { variable: 'PROMTOOL_BIN', debianPackage: 'promtool' },
  prometheus: { variable: 'PROMETHEUS_BIN', debianPackage: 'prometheus' },
  amtool: { variable: 'AMTOOL_BIN', debianPackage: 'prometheus-alertmanager' },
} as const

/** Finds a program in the same way: its variable, such as `PROMTOOL_BIN`, the PATH, Debian's package. */
export async function findProgramOf(
  name: keyof typeof programs,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const { variable, debianPackage } = programs[name]
  return findProgram(env, variable, name)?.path ?? fetchProgram(env, name, debianPackage)
}

/** Reason why a program is neither here nor to be fetched; null when a test can have it. */
export function obstacleOf(name: keyof typeof programs, env: NodeJS.ProcessEnv = process.env): string | null {
  if (findProgram(env, programs[name].variable, name) !== null) return null
  const obstacle = aptObstacle()
  return obstacle === null ? null : `${name} is not here and cannot be fetched: ${obstacle}`
}

/** The program of Debian's package. */
async function fetchProgram(env: NodeJS.ProcessEnv, name: string, debianPackage = name): Promise<string> {
  const cacheDir = cacheFolder(env)
  const progress = createProgress()
  const folder = await cachedFolder({
    cacheDir,
    name: `${name}-${debianSuite}-${process.arch}-1`,
    freeBytesMin,
    progress,
    make: async (aside) => {
      const unpacked = join(aside, 'unpacked')
      await withPrivateApt({ cacheDir, progress }, async (apt) => {
        for (const { file } of await apt.download([debianPackage])) {
          await runProgram('dpkg-deb', ['-x', file, unpacked])
          rmSync(file)
        }
      })
      const program = join(unpacked, 'usr/bin', name)
      if (!existsSync(program))
        throw new Error(`Debian's package ${debianPackage} holds no ${name} where it used to`)
      renameSync(program, join(aside, name))
      rmSync(unpacked, { recursive: true, force: true })
    },
  })
  return join(folder, name)
}
