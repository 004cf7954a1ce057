import { Environment } from '@marcbachmann/cel-js'
import { z } from 'zod'
import { type Manifest, titleOf } from './render-folder.ts'

const policySchema = z.looseObject({
  spec: z.looseObject({
    matchConstraints: z.looseObject({
      resourceRules: z.array(
        z.looseObject({ apiGroups: z.array(z.string()), resources: z.array(z.string()) }),
      ),
    }),
    variables: z.array(z.object({ name: z.string(), expression: z.string() })).default([]),
    validations: z.array(z.object({ expression: z.string(), message: z.string() })),
  }),
})
const bindingSchema = z.looseObject({
  spec: z.looseObject({
    policyName: z.string(),
    matchResources: z.looseObject({
      namespaceSelector: z.object({ matchLabels: z.record(z.string(), z.string()) }),
    }),
  }),
})

/** A refusal of a policy, as the cluster would say it. */
export type Refusal = { readonly policy: string; readonly what: string; readonly message: string }

/**
 * Evaluates ValidatingAdmissionPolicies on manifests as the API server does: the policy's resources, the
 * bindings' namespaces, its variables, then each validation. An expression that cannot be evaluated refuses
 * (`failurePolicy: Fail`).
 */
export function evaluatePolicies(policies: readonly Manifest[], manifests: readonly Manifest[]): Refusal[] {
  const bindings = policies
    .filter(({ kind }) => kind === 'ValidatingAdmissionPolicyBinding')
    .map((binding) => bindingSchema.parse(binding).spec)
  const namespaceLabels = new Map(
    manifests
      .filter(({ kind }) => kind === 'Namespace')
      .map(({ metadata }) => [metadata.name, metadata.labels ?? {}]),
  )
  return policies
    .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
    .flatMap((policy) => {
      const selectors = bindings
        .filter(({ policyName }) => policyName === policy.metadata.name)
        .map(({ matchResources }) => Object.entries(matchResources.namespaceSelector.matchLabels))
      const isBound = ({ metadata }: Manifest) => {
        const labels = namespaceLabels.get(metadata.namespace ?? '') ?? {}
        return selectors.some((pairs) => pairs.every(([name, value]) => labels[name] === value))
      }
      return manifests.filter(isBound).flatMap((manifest) => refusals(policy, manifest))
    })
}

function refusals(policy: Manifest, manifest: Manifest): Refusal[] {
  const { matchConstraints, variables, validations } = policySchema.parse(policy).spec
  const [group = ''] = manifest.apiVersion.includes('/') ? manifest.apiVersion.split('/') : ['']
  const resource = `${manifest.kind.toLowerCase()}s`
  const isMeant = matchConstraints.resourceRules.some(
    ({ apiGroups, resources }) => apiGroups.includes(group) && resources.includes(resource),
  )
  if (!isMeant) return []
  const context: Record<string, unknown> = { object: withBigInts(manifest), variables: {} }
  const environment = new Environment().registerVariable('object', 'dyn').registerVariable('variables', 'map')
  const evaluate = (expression: string): unknown => environment.evaluate(expression, context)
  const values: Record<string, unknown> = {}
  const refuse = (message: string) => [{ policy: policy.metadata.name, what: titleOf(manifest), message }]
  try {
    for (const { name, expression } of variables) {
      values[name] = evaluate(expression)
      context.variables = { ...values }
    }
    return validations.flatMap(({ expression, message }) =>
      evaluate(expression) === true ? [] : refuse(message),
    )
  } catch (error) {
    return refuse(`cannot be evaluated: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** CEL's integers are BigInts here. */
function withBigInts(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (Array.isArray(value)) return value.map(withBigInts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBigInts(inner)]))
}
