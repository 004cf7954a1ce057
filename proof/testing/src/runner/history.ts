import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** Lines of the runs that are kept, which git ignores. */
const fileName = '.test-history.jsonl'
const runsMax = 60

const lineSchema = z.object({
  at: z.string(),
  slowness: z.number(),
  wallS: z.number(),
  cpuS: z.number(),
  /** Seconds of each file: by the clock, and of processor time. */
  files: z.record(z.string(), z.tuple([z.number(), z.number()])),
  failed: z.array(z.string()),
})
export type RunLine = z.infer<typeof lineSchema>

/** The last runs on this machine, oldest first. */
export function readHistory(root: string): readonly RunLine[] {
  const path = join(root, fileName)
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => lineSchema.parse(JSON.parse(line)))
}

export function appendHistory(root: string, line: RunLine): void {
  const lines = [...readHistory(root), line].slice(-runsMax)
  writeFileSync(join(root, fileName), lines.map((each) => `${JSON.stringify(each)}\n`).join(''))
}

/** Which files have failed lately and how often, and how long whole runs took. */
export function describeHistory(history: readonly RunLine[]): readonly string[] {
  if (history.length === 0) return ['no run is recorded yet']
  const counts = new Map<string, { failed: number; lastAt: string }>()
  for (const { at, failed } of history)
    for (const file of failed) counts.set(file, { failed: (counts.get(file)?.failed ?? 0) + 1, lastAt: at })
  const runsOf = (file: string) => history.filter(({ files }) => file in files).length
  const rows = [...counts].toSorted(([, a], [, b]) => b.failed - a.failed)
  return [
    `${history.length} runs since ${history[0]?.at}`,
    ...history
      .slice(-10)
      .map(
        ({ at, wallS, cpuS, slowness, files, failed }) =>
          `${at}  ${Object.keys(files).length} files  ${wallS.toFixed(0)} s  ${cpuS.toFixed(0)} s of processor time  machine ${slowness.toFixed(1)}×  ${failed.length} failed`,
      ),
    rows.length === 0 ? 'no file has failed' : 'failed:',
    ...rows.map(([file, { failed, lastAt }]) => `${failed} of ${runsOf(file)} runs, last ${lastAt}  ${file}`),
  ]
}
