import type { Manifest } from './render-folder.ts'

/** Packages of resources that are not Kubernetes' own, by the last part of their group. */
const packagesOfGroups: Readonly<Record<string, string>> = {
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'external-secrets.io': '@kubernetes-models/external-secrets',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
}

/** Module of kubernetes-models that holds the model of a manifest, and the model's name. */
export function modelOf({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>) {
  const [group = ''] = apiVersion.split('/')
  const module = `${packagesOfGroups[group] ?? 'kubernetes-models'}/${apiVersion}/${kind}`
  return { module, name: kind }
}
