import { ConfigError, parseConfig } from '@pitboss/runtime/load-config'
import { environmentOf, type SecretValues } from './environment-of.ts'
import type { Manifest } from './render-folder.ts'
import { configs } from './services.ts'
import { workloadsOf } from './workloads.ts'

/** Variables that Node itself reads. */
const ofNode = ['NODE_EXTRA_CA_CERTS']

/**
 * Reads the environment of each of our containers as its process will: a variable that it does not know, one
 * that it needs, and a value that it refuses, also for production's sake, is a sentence.
 */
export function environmentProblems(manifests: readonly Manifest[], secrets: SecretValues): string[] {
  return workloadsOf(manifests).flatMap(({ title, labels, pod }) => {
    const schema = configs[labels['app.kubernetes.io/name'] ?? '']
    if (schema === undefined) return []
    return pod.containers.flatMap((container) => {
      const environment = environmentOf(container, manifests, secrets)
      return settingsProblems(schema, environment).map((problem) => `${title}: ${problem}`)
    })
  })
}

/** What the configuration of one process has against an environment, as sentences. */
export function settingsProblems(
  schema: (typeof configs)[string],
  environment: Record<string, string>,
): string[] {
  const unknown = Object.keys(environment).filter((name) => !(name in schema.shape) && !ofNode.includes(name))
  return [...unknown.map((name) => `${name} is read by nobody`), ...refusalsOf(schema, environment)]
}

function refusalsOf(
  schema: Parameters<typeof parseConfig>[0],
  environment: Record<string, string>,
): string[] {
  try {
    parseConfig(schema, environment)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n')
  }
}
