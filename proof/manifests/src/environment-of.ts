import { z } from 'zod'
import { type Manifest, titleOf } from './render-folder.ts'
import type { Container } from './workloads.ts'

const dataSchema = z.looseObject({ data: z.record(z.string(), z.string()).default({}) })

/** Values of Secrets by their name and key. */
export type SecretValues = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The environment that a container starts with, in the order in which Kubernetes fills it. */
export function environmentOf(
  container: Container,
  manifests: readonly Manifest[],
  secrets: SecretValues,
): Record<string, string> {
  const settings = (name: string) => {
    const found = manifests.find((one) => titleOf(one) === `ConfigMap/${name}`)
    return found === undefined ? {} : dataSchema.parse(found).data
  }
  const environment: Record<string, string> = {}
  for (const { configMapRef, secretRef } of container.envFrom) {
    if (configMapRef !== undefined) Object.assign(environment, settings(configMapRef.name))
    if (secretRef !== undefined) Object.assign(environment, secrets[secretRef.name])
  }
  for (const { name, value, valueFrom } of container.env) {
    const secret = valueFrom?.secretKeyRef
    const setting = valueFrom?.configMapKeyRef
    const found =
      value ??
      (secret === undefined ? undefined : secrets[secret.name]?.[secret.key]) ??
      (setting === undefined ? undefined : settings(setting.name)[setting.key])
    if (found !== undefined) environment[name] = found
  }
  return environment
}
