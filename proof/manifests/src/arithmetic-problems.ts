import { stopTimeoutMs } from '@pitboss/runtime/run-service'
import { z } from 'zod'
import { quantity } from './quantity.ts'
import type { Manifest } from './render-folder.ts'
import { hasLabels, type Workload, workloadsOf } from './workloads.ts'

/** Seconds that a load balancer may go on sending to a pod that ends. */
const leavingS = 5
/** Seconds that are left between the drain of a process and its end by force. */
const spareS = 5
/** Seconds for which an event loop may stand still before its process counts as dead. */
const silenceS = 60
/** Longest time of one condition of `/readyz`, in seconds. Source: libs/runtime/src/probe-server.ts. */
const checkS = 1
/** Room above what was measured: docs/decisions/2026-11-23-what-only-a-cluster-shows.md. */
const memoryRoom = 1.5

/**
 * Resident memory of one process of each service in bytes, after the end-to-end suite of access. Source:
 * docs/decisions/2026-11-23-what-only-a-cluster-shows.md.
 */
const measuredBytes: Readonly<Record<string, number>> = {
  gateway: 208 * 2 ** 20,
  auth: 226 * 2 ** 20,
  rounds: 217 * 2 ** 20,
  'wallet-bridge': 201 * 2 ** 20,
  webhooks: 217 * 2 ** 20,
}

const scalerSchema = z.looseObject({
  spec: z.looseObject({
    scaleTargetRef: z.looseObject({ name: z.string() }),
    minReplicas: z.number(),
    maxReplicas: z.number(),
  }),
})
const budgetSchema = z.looseObject({
  spec: z.looseObject({
    maxUnavailable: z.number(),
    selector: z.looseObject({ matchLabels: z.record(z.string(), z.string()) }),
  }),
})
const serviceSchema = z.looseObject({
  spec: z.looseObject({ selector: z.record(z.string(), z.string()) }),
})

/**
 * Finds numbers that do not go together: a drain longer than the grace, a budget that empties a service, a
 * limit below what was measured, probes that kill what is only busy. `replicasMin` is the least number of
 * pods of each service that the installation is meant to have.
 */
export function arithmeticProblems(manifests: readonly Manifest[], replicasMin: number): string[] {
  return workloadsOf(manifests)
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap((workload) => [
      ...drainProblems(workload, manifests),
      ...replicaProblems(workload, manifests, replicasMin),
      ...probeProblems(workload),
      ...memoryProblems(workload),
    ])
}

function drainProblems({ title, labels, pod }: Workload, manifests: readonly Manifest[]): string[] {
  const isServed = manifests
    .filter(({ kind }) => kind === 'Service')
    .some((service) => hasLabels(labels, serviceSchema.parse(service).spec.selector))
  return pod.containers.flatMap(({ lifecycle }) => {
    const sleepS = lifecycle?.preStop.sleep?.seconds ?? 0
    const neededS = sleepS + stopTimeoutMs / 1000 + spareS
    return [
      ...(isServed && sleepS < leavingS ? [`${title} ends before load balancers have heard of it`] : []),
      ...(pod.terminationGracePeriodSeconds < neededS
        ? [`${title} is killed after ${pod.terminationGracePeriodSeconds} s and may need ${neededS} s`]
        : []),
    ]
  })
}

function replicaProblems(
  { title, name, labels, spec }: Workload,
  manifests: readonly Manifest[],
  min: number,
) {
  const problems: string[] = []
  const scalers = manifests
    .filter(({ kind }) => kind === 'HorizontalPodAutoscaler')
    .map((scaler) => scalerSchema.parse(scaler).spec)
    .filter(({ scaleTargetRef }) => scaleTargetRef.name === name)
  const budgets = manifests
    .filter(({ kind }) => kind === 'PodDisruptionBudget')
    .map((budget) => budgetSchema.parse(budget).spec)
    .filter(({ selector }) => hasLabels(labels, selector.matchLabels))
  const [scaler] = scalers
  if (scalers.length !== 1 || scaler === undefined) return [`${title} is scaled by ${scalers.length}`]
  if (spec.replicas !== undefined) problems.push(`${title} says its replicas, which its scaler decides`)
  if (scaler.minReplicas < min)
    problems.push(`${title} may have ${scaler.minReplicas} pods, of at least ${min}`)
  if (scaler.maxReplicas <= scaler.minReplicas) problems.push(`${title} cannot grow`)
  if (budgets.length !== 1) problems.push(`${title} has ${budgets.length} disruption budgets`)
  if (min > 1 && budgets.some(({ maxUnavailable }) => maxUnavailable >= scaler.minReplicas))
    problems.push(`${title} may be emptied by a drain of nodes`)
  const { maxSurge = 0, maxUnavailable = 1 } = spec.strategy?.rollingUpdate ?? {}
  if (maxUnavailable !== 0 || maxSurge < 1) problems.push(`${title} loses a pod before it has another`)
  return problems
}

function probeProblems({ title, pod }: Workload): string[] {
  return pod.containers.flatMap(({ startupProbe, livenessProbe, readinessProbe }) => {
    if (startupProbe === undefined || livenessProbe === undefined || readinessProbe === undefined)
      return [`${title} lacks a probe`]
    const problems: string[] = []
    const lastsS = ({ periodSeconds = 10, failureThreshold = 3 }: typeof livenessProbe) =>
      periodSeconds * failureThreshold
    if (startupProbe.httpGet?.path !== '/healthz' || livenessProbe.httpGet?.path !== '/healthz')
      problems.push(`${title} is restarted for what a restart does not repair`)
    if (readinessProbe.httpGet?.path !== '/readyz') problems.push(`${title} is ready before it can serve`)
    if (lastsS(livenessProbe) < silenceS) problems.push(`${title} is restarted while it is only busy`)
    if (lastsS(startupProbe) < silenceS) problems.push(`${title} is restarted while it starts`)
    if ((readinessProbe.timeoutSeconds ?? 1) <= checkS)
      problems.push(`${title} may be asked for its readiness for a shorter time than the answer takes`)
    return problems
  })
}

function memoryProblems({ title, name, pod }: Workload): string[] {
  return pod.containers.flatMap(({ resources: { requests, limits } }) => {
    const limit = quantity(limits.memory)
    const needed = (measuredBytes[name] ?? 0) * memoryRoom
    return [
      ...(limit < needed ? [`${title} has less memory than ${memoryRoom} times what was measured`] : []),
      ...(quantity(requests.memory) > limit ? [`${title} asks for more memory than it may use`] : []),
    ]
  })
}

/** What an installation asks for at its least number of pods: cores, and bytes of memory. */
export function leastRequests(manifests: readonly Manifest[]): { cores: number; bytes: number } {
  const least = new Map(
    manifests
      .filter(({ kind }) => kind === 'HorizontalPodAutoscaler')
      .map((scaler) => scalerSchema.parse(scaler).spec)
      .map(({ scaleTargetRef, minReplicas }) => [scaleTargetRef.name, minReplicas]),
  )
  let [cores, bytes] = [0, 0]
  for (const { name, pod, spec, kind } of workloadsOf(manifests)) {
    if (kind === 'Job') continue
    const replicas = least.get(name) ?? spec.replicas ?? 1
    for (const { resources } of pod.containers) {
      cores += replicas * quantity(resources.requests.cpu)
      bytes += replicas * quantity(resources.requests.memory)
    }
  }
  return { cores, bytes }
}
