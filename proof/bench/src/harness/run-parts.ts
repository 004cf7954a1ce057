import { createCleanup, type Cleanup } from './cleanup.ts'
import type { Measured } from './measured.ts'

/**
 * Runs the chosen parts of a benchmark one after another. What a part adds to its cleanup, as a rule a pair
 * of engines, is gone before the next begins.
 */
export async function runParts<Part extends string>(
  parts: readonly Part[],
  measures: Readonly<Record<Part, (own: Cleanup) => Promise<Measured>>>,
  cleanup: Cleanup,
): Promise<{ results: Partial<Record<Part, object>>; text: string }> {
  const results: Partial<Record<Part, object>> = {}
  const texts: string[] = []
  for (const part of parts) {
    const own = createCleanup(cleanup)
    try {
      const { result, text } = await measures[part](own)
      results[part] = result
      texts.push(text)
    } finally {
      await own.run()
    }
  }
  return { results, text: texts.join('\n\n') }
}
