import { findProgram } from '@pitboss/engines/engine-settings'
import { fetchDebianProgram } from '@pitboss/engines/fetch/fetch-debian-program'
import { aptObstacle } from '@pitboss/engines/fetch/private-apt'

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
  return { program: await fetchDebianProgram(env, 'kustomize'), args: ['build'] }
}

/** Programs of Prometheus and its Alertmanager, each with the variable that names one. */
const variables = {
  promtool: 'PROMTOOL_BIN',
  prometheus: 'PROMETHEUS_BIN',
  amtool: 'AMTOOL_BIN',
} as const

/** Finds a program in the same way: its variable, such as `PROMTOOL_BIN`, the PATH, Debian's package. */
export async function findProgramOf(
  name: keyof typeof variables,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  return findProgram(env, variables[name], name)?.path ?? fetchDebianProgram(env, name)
}

/** Reason why a program is neither here nor to be fetched; null when a test can have it. */
export function obstacleOf(
  name: keyof typeof variables,
  env: NodeJS.ProcessEnv = process.env,
): string | null {
  if (findProgram(env, variables[name], name) !== null) return null
  const obstacle = aptObstacle()
  return obstacle === null ? null : `${name} is not here and cannot be fetched: ${obstacle}`
}
