import type { Latency } from './latency.ts'
import type { Comparison, Summary } from './run-pairs.ts'

/** Columns as wide as their longest cell; the first one to the left, the others to the right. */
export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** Product and floor of each concurrency, and their ratio. */
export function renderComparisons(comparisons: readonly Comparison[]): string {
  const rows = comparisons.flatMap(({ concurrency, product, floor, ratio }) => [
    [`product, ${concurrency} at once`, ...summaryCells(product), ratio.median.toFixed(2)],
    [
      `floor, ${concurrency} at once`,
      ...summaryCells(floor),
      `${ratio.least.toFixed(2)}–${ratio.most.toFixed(2)}`,
    ],
  ])
  return renderTable(['', 'per s', 'p50 ms', 'p95 ms', 'p99 ms', 'failed', 'ratio'], rows)
}

export function latencyCells({ p50, p95, p99 }: Latency): string[] {
  return [p50, p95, p99].map((ms) => ms.toFixed(ms < 10 ? 2 : 1))
}

function summaryCells({ rate, latencyMs, failed }: Summary): string[] {
  return [rate.toFixed(rate < 100 ? 1 : 0), ...latencyCells(latencyMs), String(failed)]
}
