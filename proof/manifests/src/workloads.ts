import { z } from 'zod'
import { type Manifest, titleOf } from './render-folder.ts'

const labels = z.record(z.string(), z.string())
const keyReference = z.object({ name: z.string(), key: z.string(), optional: z.boolean().optional() })
const port = z.object({ name: z.string().optional(), containerPort: z.number() })
const httpGet = z.object({ path: z.string(), port: z.union([z.string(), z.number()]) })
const probe = z.looseObject({
  httpGet: httpGet.optional(),
  periodSeconds: z.number().optional(),
  timeoutSeconds: z.number().optional(),
  failureThreshold: z.number().optional(),
})
const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()).default([]),
  args: z.array(z.string()).default([]),
  ports: z.array(port).default([]),
  env: z
    .array(
      z.object({
        name: z.string(),
        value: z.string().optional(),
        valueFrom: z
          .looseObject({ secretKeyRef: keyReference.optional(), configMapKeyRef: keyReference.optional() })
          .optional(),
      }),
    )
    .default([]),
  envFrom: z
    .array(
      z.object({
        configMapRef: z.object({ name: z.string() }).optional(),
        secretRef: z.object({ name: z.string() }).optional(),
      }),
    )
    .default([]),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
  resources: z.object({
    requests: z.object({ cpu: z.string(), memory: z.string() }),
    limits: z.object({ memory: z.string(), cpu: z.string().optional() }),
  }),
  lifecycle: z
    .object({ preStop: z.looseObject({ sleep: z.object({ seconds: z.number() }).optional() }) })
    .optional(),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
})
export type Container = z.infer<typeof containerSchema>

const podSchema = z.looseObject({
  serviceAccountName: z.string().optional(),
  terminationGracePeriodSeconds: z.number().default(30),
  containers: z.array(containerSchema).min(1),
  volumes: z
    .array(
      z.looseObject({
        name: z.string(),
        configMap: z.object({ name: z.string() }).optional(),
        secret: z.object({ secretName: z.string() }).optional(),
      }),
    )
    .default([]),
})

const workloadSchema = z.looseObject({
  spec: z.looseObject({
    replicas: z.number().optional(),
    selector: z.object({ matchLabels: labels }).optional(),
    strategy: z
      .object({ rollingUpdate: z.object({ maxSurge: z.number(), maxUnavailable: z.number() }) })
      .loose()
      .optional(),
    volumeClaimTemplates: z
      .array(
        z.looseObject({
          metadata: z.looseObject({ name: z.string() }),
          spec: z.looseObject({ resources: z.object({ requests: z.object({ storage: z.string() }) }) }),
        }),
      )
      .default([]),
    template: z.object({ metadata: z.object({ labels }).loose(), spec: podSchema }),
  }),
})

/** A manifest that makes pods. */
export type Workload = {
  readonly title: string
  readonly kind: string
  readonly name: string
  readonly spec: z.infer<typeof workloadSchema>['spec']
  readonly labels: Readonly<Record<string, string>>
  readonly pod: z.infer<typeof podSchema>
}

const kinds = ['Deployment', 'StatefulSet', 'Job']

/** The manifests that make pods, read once. @throws ZodError for one without what each of ours has */
export function workloadsOf(manifests: readonly Manifest[]): Workload[] {
  return manifests
    .filter(({ kind }) => kinds.includes(kind))
    .map((manifest) => {
      const { spec } = workloadSchema.parse(manifest)
      const { template } = spec
      return {
        title: titleOf(manifest),
        kind: manifest.kind,
        name: manifest.metadata.name,
        spec,
        labels: template.metadata.labels,
        pod: template.spec,
      }
    })
}

/** Whether all of `wanted` are among the labels. */
export function hasLabels(
  labels: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([name, value]) => labels[name] === value)
}
