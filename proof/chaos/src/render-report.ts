import type { ChaosReport } from './run-chaos.ts'

const violationsShown = 20
const violationsKept = 5

/** Report for a terminal: work, checks, violations. */
export function renderReport({
  seed,
  seconds,
  faults,
  answers,
  counts,
  happened,
  healing,
  back,
  invariants,
}: ChaosReport): string {
  const list = (items: Record<string, number>) =>
    Object.entries(items)
      .map(([name, count]) => `  ${String(count).padStart(7)}  ${name}`)
      .join('\n')
  const checked = invariants.map(({ name, checked: looks, violations }) => {
    const shown = violations.slice(0, violationsShown).map((violation) => `             ${violation}`)
    const more =
      violations.length > violationsShown
        ? [`             and ${violations.length - violationsShown} more`]
        : []
    return [
      `  ${violations.length === 0 ? 'ok ' : 'NOT'} ${String(looks).padStart(6)}  ${name}`,
      ...shown,
      ...more,
    ].join('\n')
  })
  const broken = invariants.filter(({ violations }) => violations.length > 0).length
  return `Chaos, seed ${seed}, ${seconds} s

faults
${list(faults)}

answers that clients got
${list(answers)}

what was compared
${list(counts)}

what happened
${list(happened)}

healing after the last fault: ready ${healing.readyMs} ms, settled ${healing.settledMs} ms, delivered ${healing.deliveredMs} ms
killed services back (engines up): ${back.kills} timed, median ${back.medianMs} ms, most ${back.mostMs} ms

invariants (looks)
${checked.join('\n')}

${broken === 0 ? 'Every invariant held.' : `${broken} invariants were broken. Again: npm run chaos -- --seconds ${seconds} --seed ${seed}`}
`
}

/** Whether an invariant was broken. */
export function isBroken({ invariants }: Pick<ChaosReport, 'invariants'>): boolean {
  return invariants.some(({ violations }) => violations.length > 0)
}

/** The result without each fault's time, short enough to be kept. */
export function summaryOf(report: ChaosReport, settings: object): object {
  const { tookMs, invariants, seed, seconds, ...rest } = report
  return {
    ...{ run: 'chaos', seed, seconds, ...settings },
    verdict: isBroken(report) ? 'broken' : 'held',
    ...{ took_ms: tookMs, ...rest },
    invariants: invariants.map(({ name, checked, violations }) => ({
      ...{ name, looks: checked, broken: violations.length },
      ...(violations.length === 0 ? {} : { first: violations.slice(0, violationsKept) }),
    })),
  }
}
