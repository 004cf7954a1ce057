import type { FileResult } from './run-files.ts'

const slowestShown = 30

/** The line of a file that has ended. */
export function describeResult({ ok, file, wallS, checks }: FileResult): string {
  return `${ok ? 'ok    ' : 'FAILED'} ${seconds(wallS)}  ${file} (${checks})`
}

/** Everything that a failed file printed, and why it failed where its tests do not say it. */
export function describeFailure({ file, output, complaints }: FileResult): string {
  return [
    `--- ${file}`,
    output.trimEnd(),
    ...complaints.map((complaint) => `${file}: ${complaint}`),
    '---',
  ].join('\n')
}

/** A case of a file, as tap prints it when it has ended. */
const endOfCase = /^ {4}(?:not )?ok \d+ - (.*) # time=([\d.]+)ms$/gm

/** What the run cost: the slowest files, or all of them with the slowest cases, and the sums. */
export function describeTimes(
  results: readonly FileResult[],
  { all, wallS, cpuS }: { all: boolean; wallS: number; cpuS: number },
): readonly string[] {
  const sum = (of: (result: FileResult) => number) => results.reduce((total, result) => total + of(result), 0)
  const slowest = results.toSorted((a, b) => b.wallS - a.wallS)
  const rows = (all ? slowest : slowest.slice(0, slowestShown)).map(
    ({ file, wallS, cpuS, databases, processes }) =>
      `${seconds(wallS)} ${seconds(cpuS)} ${String(databases).padStart(9)} ${String(processes).padStart(9)}  ${file}`,
  )
  const cases = results.flatMap(({ file, output }) =>
    [...output.matchAll(endOfCase)].map(([, name = '', ms]) => ({ name, file, wallS: Number(ms) / 1000 })),
  )
  const slowestCases = cases.toSorted((a, b) => b.wallS - a.wallS).slice(0, slowestShown)
  return [
    ...(all ? ['the slowest cases'] : []),
    ...(all
      ? slowestCases.map(({ name, file, wallS: ofCase }) => `${seconds(ofCase)}  ${file}: ${name}`)
      : []),
    `    wall       cpu databases processes  ${all ? 'every file' : `the slowest ${rows.length} (all: --times)`}`,
    ...rows,
    `${results.length} files in ${wallS.toFixed(0)} s, ${cpuS.toFixed(0)} s of processor time (${sum((result) => result.cpuS).toFixed(0)} s of the tests, the rest engines and loading); ` +
      `${sum((result) => result.databases)} databases made, ${sum((result) => result.processes)} processes started`,
  ]
}

function seconds(value: number): string {
  return `${value.toFixed(2).padStart(7)} s`
}
