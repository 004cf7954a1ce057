import { z } from 'zod'
import type { Manifest } from './render-folder.ts'
import { workloadsOf } from './workloads.ts'

const seccomp = z.object({ type: z.string() }).optional()
const podContext = z.looseObject({
  runAsNonRoot: z.boolean().optional(),
  runAsUser: z.number().optional(),
  seccompProfile: seccomp,
})
const containerContext = z.looseObject({
  privileged: z.boolean().optional(),
  allowPrivilegeEscalation: z.boolean().optional(),
  runAsNonRoot: z.boolean().optional(),
  runAsUser: z.number().optional(),
  seccompProfile: seccomp,
  capabilities: z
    .object({ add: z.array(z.string()).default([]), drop: z.array(z.string()).default([]) })
    .optional(),
})
const podSchema = z.looseObject({
  hostNetwork: z.boolean().default(false),
  hostPID: z.boolean().default(false),
  hostIPC: z.boolean().default(false),
  securityContext: podContext.default({}),
  containers: z.array(z.looseObject({ name: z.string(), securityContext: containerContext.default({}) })),
})

/** Kinds of volumes that the profile lets pods have. */
const volumeKinds = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]
const seccompTypes = ['RuntimeDefault', 'Localhost']
const capabilityOfPorts = 'NET_BIND_SERVICE'

/**
 * Finds what the profile `restricted` of the Pod Security Standards refuses, which our namespace enforces:
 * pods are then not made, and the Deployment says so to nobody who does not look.
 */
export function podSecurityProblems(manifests: readonly Manifest[]): string[] {
  return workloadsOf(manifests).flatMap(({ title, pod }) => {
    const { hostNetwork, hostPID, hostIPC, securityContext: own, containers } = podSchema.parse(pod)
    const problems: string[] = []
    const need = (holds: boolean, problem: string) => {
      if (!holds) problems.push(`${title} ${problem}`)
    }
    need(!hostNetwork && !hostPID && !hostIPC, 'shares something with its node')
    for (const { name, ...source } of pod.volumes)
      need(
        Object.keys(source).every((kind) => volumeKinds.includes(kind)),
        `has a volume of another kind: ${name}`,
      )
    for (const { securityContext: context } of containers) {
      need(context.privileged !== true, 'is privileged')
      need(context.allowPrivilegeEscalation === false, 'may gain privileges')
      need(context.capabilities?.drop.includes('ALL') === true, 'keeps capabilities')
      need(
        (context.capabilities?.add ?? []).every((name) => name === capabilityOfPorts),
        'adds capabilities',
      )
      need((context.runAsNonRoot ?? own.runAsNonRoot) === true, 'may run as root')
      need((context.runAsUser ?? own.runAsUser) !== 0, 'runs as root')
      const profile = (context.seccompProfile ?? own.seccompProfile)?.type ?? ''
      need(seccompTypes.includes(profile), 'has no seccomp profile')
    }
    return problems
  })
}
