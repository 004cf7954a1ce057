import type { SecretsManifest } from './new-secrets.ts'

const ofService = /^(.*)-secrets$/

/**
 * New secrets as lines of an environment file: a service's keys after its name, `AUTH_NATS_NKEY_SEED`, and
 * the users' public keys by their own. The script that makes MongoDB's users has no place in it.
 */
export function environmentFile(items: readonly SecretsManifest[]): string {
  return items
    .flatMap((item) => {
      const service = ofService.exec(item.metadata.name)?.[1]
      if ('data' in item) return Object.entries(item.data)
      if (service === undefined) return []
      const prefix = `${service.toUpperCase().replaceAll('-', '_')}_`
      return Object.entries(item.stringData).map(([key, value]) => [prefix + key, value])
    })
    .map(([key, value]) => `${key}='${value}'\n`)
    .join('')
}
