import { parser } from '@prometheus-io/lezer-promql'
import { z } from 'zod'
import type { Manifest } from './render-folder.ts'

const ruleSchema = z.object({
  alert: z.string().optional(),
  record: z.string().optional(),
  expr: z.string(),
  for: z.string().optional(),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
})
const rulesSchema = z.looseObject({
  spec: z.object({ groups: z.array(z.looseObject({ name: z.string(), rules: z.array(ruleSchema) })) }),
})
export type Rule = z.infer<typeof ruleSchema>

/** The groups of all PrometheusRules. */
export function groupsOf(manifests: readonly Manifest[]) {
  return manifests
    .filter(({ kind }) => kind === 'PrometheusRule')
    .flatMap((manifest) => rulesSchema.parse(manifest).spec.groups)
}

/** The rules of all PrometheusRules. */
export function rulesOf(manifests: readonly Manifest[]): Rule[] {
  return groupsOf(manifests).flatMap(({ rules }) => rules)
}

const strict = parser.configure({ strict: true })

/** Names that a PromQL expression asks for. @throws SyntaxError for what is no PromQL */
export function namesIn(expression: string): { metrics: string[]; labels: string[] } {
  const metrics: string[] = []
  const labels: string[] = []
  strict.parse(expression).iterate({
    enter({ type, from, to, node }) {
      const name = expression.slice(from, to)
      if (type.name === 'Identifier' && node.parent?.type.name === 'VectorSelector') metrics.push(name)
      if (type.name === 'LabelName') labels.push(name)
    },
  })
  return { metrics, labels }
}

type Known = ReadonlyMap<string, ReadonlySet<string>>

/**
 * Finds rules that no series can answer: a metric that no service registers, a label that it does not have, a
 * text that is no PromQL.
 */
export function queryProblems(manifests: readonly Manifest[], known: Known): string[] {
  const rules = rulesOf(manifests)
  const recorded = recordedBy(rules)
  return rules.flatMap(({ alert, record, expr }) =>
    problemsOf({ title: alert ?? record ?? 'a rule', expr, known, recorded }),
  )
}

/** The names that rules record. */
export function recordedBy(rules: readonly Rule[]): ReadonlySet<string> {
  return new Set(rules.flatMap(({ record }) => record ?? []))
}

/** The problems of one query, each as a sentence that begins with `title`. */
export function problemsOf({
  title,
  expr,
  known,
  recorded,
}: {
  title: string
  expr: string
  known: Known
  recorded: ReadonlySet<string>
}): string[] {
  try {
    const { metrics, labels } = namesIn(expr)
    const allLabels = new Set(metrics.flatMap((metric) => [...(known.get(metric) ?? ['namespace'])]))
    return [
      ...metrics
        .filter((metric) => !known.has(metric) && !recorded.has(metric))
        .map((metric) => `${title} asks for ${metric}, which nobody counts`),
      ...labels
        .filter((label) => !allLabels.has(label) && !expr.includes(`"${label}"`))
        .map((label) => `${title} asks for the label ${label}, which no metric of it has`),
    ]
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return [`${title} is no PromQL: ${error.message}`]
  }
}
