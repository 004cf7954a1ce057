import { stringify } from 'yaml'
import type { Slo } from './slo.ts'

type Objective = Slo['objectives'][number]
type Burn = Slo['page'][number]

/** The recorded share of bad ones of an objective within a window. */
const recordOf = ({ name }: Objective, window: string) => `pitboss:${name}:bad_ratio_${window}`

/**
 * The PrometheusRule of `slo.yaml`: for each objective its share of bad ones over each window, and one alert
 * for each way of being told. An alert fires while a long and a short window burn the budget too fast, and
 * the long one has at least `badMin` bad ones. Source: Google's SRE workbook, chapter 5.
 */
export function renderSloRules(slo: Slo): string {
  const groups = slo.objectives.map((objective) => ({
    name: `slo-${objective.name.replaceAll('_', '-')}`,
    rules: [
      ...slo.windows.map((window) => ({
        record: recordOf(objective, window),
        expr: ratioOf(objective, window),
      })),
      alertOf(objective, 'page', slo.page),
      alertOf(objective, 'ticket', slo.ticket),
    ],
  }))
  const rule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'pitboss-slo' },
    spec: { groups },
  }
  return `# Made from slo.yaml by \`npm run telemetry\`.\n${stringify(rule, { lineWidth: 0 })}`
}

/** The share; 0 where nothing bad was ever counted. */
function ratioOf({ bad, all }: Objective, window: string): string {
  const [badOnes, allOnes] = [within(bad, window), within(all, window)]
  return `((${badOnes}) or (${allOnes}) * 0)\n  / (${allOnes})\n`
}

function alertOf(objective: Objective, severity: 'page' | 'ticket', burns: readonly Burn[]) {
  const { alert, summary } = objective[severity]
  const holds = burns.flatMap((burn) => burn.for ?? [])[0]
  return {
    alert,
    expr: `${burns.map((burn) => burnsFast(objective, burn)).join('or\n')}`,
    ...(holds === undefined ? {} : { for: holds }),
    labels: { severity, about: objective.about, slo: objective.name },
    annotations: {
      summary: `{{ $value | humanizePercentage }} ${summary}`,
      runbook: `docs/handbook/${alert}.md`,
    },
  }
}

function burnsFast(objective: Objective, { factor, long, short }: Burn): string {
  const limit = Number((factor * (1 - objective.objective)).toFixed(9))
  const over = (window: string) => `${recordOf(objective, window)} > ${limit}`
  return [
    '(',
    `  (${over(long)} and ${over(short)})`,
    `  and (${within(objective.bad, long)}) > ${objective.badMin}`,
    ')\n',
  ].join('\n')
}

function within(expression: string, window: string): string {
  return expression.replaceAll('$window', window)
}
