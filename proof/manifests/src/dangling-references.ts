import { z } from 'zod'
import { type Manifest, titleOf } from './render-folder.ts'
import { hasLabels, type Workload, workloadsOf } from './workloads.ts'

const dataSchema = z.looseObject({ data: z.record(z.string(), z.string()).default({}) })
const externalSecretSchema = z.looseObject({
  spec: z.looseObject({
    target: z.looseObject({ name: z.string() }),
    data: z.array(z.looseObject({ secretKey: z.string() })),
  }),
})
const serviceSchema = z.looseObject({
  spec: z.looseObject({
    selector: z.record(z.string(), z.string()),
    ports: z.array(
      z.looseObject({
        name: z.string().optional(),
        port: z.number(),
        targetPort: z.union([z.string(), z.number()]),
      }),
    ),
  }),
})
const selectingSchema = z.looseObject({
  spec: z.looseObject({ selector: z.object({ matchLabels: z.record(z.string(), z.string()) }) }),
})
const scalerSchema = z.looseObject({
  spec: z.looseObject({ scaleTargetRef: z.object({ kind: z.string(), name: z.string() }).loose() }),
})
const backendSchema = z.object({ name: z.string(), port: z.union([z.number(), z.string()]) })
const routeSchema = z.looseObject({
  spec: z.looseObject({ rules: z.array(z.looseObject({ backendRefs: z.array(backendSchema) })) }),
})
const ingressPort = z.object({ name: z.string().optional(), number: z.number().optional() })
const ingressSchema = z.looseObject({
  spec: z.looseObject({
    rules: z.array(
      z.looseObject({
        http: z.object({
          paths: z.array(
            z.looseObject({
              backend: z.object({ service: z.object({ name: z.string(), port: ingressPort }) }),
            }),
          ),
        }),
      }),
    ),
  }),
})

/** Names of what the installation gets from outside, with their keys: secrets, settings that people make. */
export type Given = Readonly<Record<string, readonly string[]>>

/**
 * Finds what names nothing: a key of a ConfigMap or a Secret, a port, a selector without pods, a volume, an
 * account, a target of scaling, a backend; and two documents of one name. `given` are the ConfigMaps and
 * Secrets (`Secret/auth-secrets`) that people bring. Returns a sentence for each; none when all is well.
 */
export function danglingReferences(manifests: readonly Manifest[], given: Given): string[] {
  const workloads = workloadsOf(manifests)
  const keys = keysOf(manifests, given)
  return [
    ...twins(manifests),
    ...workloads.flatMap((workload) => ofWorkload(workload, manifests, keys)),
    ...manifests.flatMap((manifest) => ofOther(manifest, manifests, workloads)),
  ]
}

type Keys = ReadonlyMap<string, ReadonlySet<string>>

function keysOf(manifests: readonly Manifest[], given: Given): Keys {
  const keys = new Map(Object.entries(given).map(([title, names]) => [title, new Set(names)]))
  for (const manifest of manifests) {
    if (manifest.kind === 'ConfigMap')
      keys.set(titleOf(manifest), new Set(Object.keys(dataSchema.parse(manifest).data)))
    if (manifest.kind !== 'ExternalSecret') continue
    const { target, data } = externalSecretSchema.parse(manifest).spec
    keys.set(`Secret/${target.name}`, new Set(data.map(({ secretKey }) => secretKey)))
  }
  return keys
}

function twins(manifests: readonly Manifest[]): string[] {
  const seen = new Map<string, Manifest>()
  return manifests.flatMap((manifest) => {
    const id = `${manifest.apiVersion} ${manifest.metadata.namespace ?? ''} ${titleOf(manifest)}`
    const former = seen.get(id)
    seen.set(id, manifest)
    // The namespace comes with both parts of an overlay.
    const isSame = JSON.stringify(former) === JSON.stringify(manifest)
    return former === undefined || isSame ? [] : [`${titleOf(manifest)} is there twice`]
  })
}

function ofWorkload(workload: Workload, manifests: readonly Manifest[], keys: Keys): string[] {
  const { title, pod, spec } = workload
  const claims = spec.volumeClaimTemplates.map(({ metadata }) => metadata.name)
  const volumes = [...pod.volumes.map(({ name }) => name), ...claims]
  const account = pod.serviceAccountName
  const problems: string[] = []
  const need = (holds: boolean, problem: string) => {
    if (!holds) problems.push(`${title} ${problem}`)
  }
  need(
    account === undefined || manifests.some((one) => titleOf(one) === `ServiceAccount/${account}`),
    `runs as an account that is not there: ${account}`,
  )
  if (spec.selector !== undefined)
    need(hasLabels(workload.labels, spec.selector.matchLabels), 'does not select its own pods')
  for (const { name, configMap, secret } of pod.volumes) {
    if (configMap !== undefined)
      need(keys.has(`ConfigMap/${configMap.name}`), `mounts no ConfigMap at ${name}: ${configMap.name}`)
    if (secret !== undefined)
      need(keys.has(`Secret/${secret.secretName}`), `mounts no Secret at ${name}: ${secret.secretName}`)
  }
  for (const container of pod.containers) {
    for (const { name } of container.volumeMounts)
      need(volumes.includes(name), `mounts a volume that is not there: ${name}`)
    for (const { name, valueFrom } of container.env) {
      const { secretKeyRef: secret, configMapKeyRef: setting } = valueFrom ?? {}
      if (secret !== undefined)
        need(keys.get(`Secret/${secret.name}`)?.has(secret.key) === true, `takes ${name} from nothing`)
      if (setting !== undefined)
        need(keys.get(`ConfigMap/${setting.name}`)?.has(setting.key) === true, `takes ${name} from nothing`)
    }
    for (const { configMapRef, secretRef } of container.envFrom) {
      const wanted =
        configMapRef === undefined ? `Secret/${secretRef?.name}` : `ConfigMap/${configMapRef.name}`
      need(keys.has(wanted), `takes its environment from nothing: ${wanted}`)
    }
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      const port = probe?.httpGet?.port
      need(port === undefined || hasPort(container.ports, port), `has a probe at no port: ${port}`)
    }
  }
  return problems
}

function hasPort(
  ports: readonly { name?: string | undefined; containerPort: number }[],
  wanted: string | number,
) {
  return ports.some(({ name, containerPort }) => name === wanted || containerPort === wanted)
}

function ofOther(
  manifest: Manifest,
  manifests: readonly Manifest[],
  workloads: readonly Workload[],
): string[] {
  const title = titleOf(manifest)
  const { kind } = manifest
  if (kind === 'Service') {
    const { selector, ports } = serviceSchema.parse(manifest).spec
    const pods = workloads.filter(({ labels }) => hasLabels(labels, selector))
    if (pods.length === 0) return [`${title} selects nothing`]
    const open = pods.flatMap(({ pod }) => pod.containers.flatMap((container) => container.ports))
    return ports
      .filter(({ targetPort }) => !hasPort(open, targetPort))
      .map(({ targetPort }) => `${title} leads to no port: ${targetPort}`)
  }
  if (kind === 'PodDisruptionBudget') {
    const { matchLabels } = selectingSchema.parse(manifest).spec.selector
    return workloads.some(({ labels }) => hasLabels(labels, matchLabels)) ? [] : [`${title} selects nothing`]
  }
  if (kind === 'HorizontalPodAutoscaler') {
    const target = scalerSchema.parse(manifest).spec.scaleTargetRef
    const isThere = workloads.some((one) => one.kind === target.kind && one.name === target.name)
    return isThere ? [] : [`${title} scales nothing: ${target.kind}/${target.name}`]
  }
  if (kind === 'HTTPRoute') {
    const { rules } = routeSchema.parse(manifest).spec
    return rules
      .flatMap(({ backendRefs }) => backendRefs)
      .filter((backend) => !leadsToService(manifests, backend))
      .map(({ name, port }) => `${title} leads to no service: ${name}:${port}`)
  }
  if (kind === 'Ingress') {
    const { rules } = ingressSchema.parse(manifest).spec
    return rules
      .flatMap(({ http }) => http.paths.map(({ backend }) => backend.service))
      .map(({ name, port }) => ({ name, port: port.name ?? port.number ?? '' }))
      .filter((backend) => !leadsToService(manifests, backend))
      .map(({ name, port }) => `${title} leads to no service: ${name}:${port}`)
  }
  return []
}

function leadsToService(
  manifests: readonly Manifest[],
  { name, port: wanted }: { name: string; port: string | number },
): boolean {
  const service = manifests.find((one) => titleOf(one) === `Service/${name}`)
  if (service === undefined) return false
  return serviceSchema.parse(service).spec.ports.some(({ name, port }) => name === wanted || port === wanted)
}
