/** Reads the values of a metric, one for each of its labels, from a process that serves `/metrics`. */
export async function readMetric(processUrl: string, metric: string): Promise<number[]> {
  const text = await (await fetch(`${processUrl}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .map((line) => Number(line.split(' ').at(-1)))
}
