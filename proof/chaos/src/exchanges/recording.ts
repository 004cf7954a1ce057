import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Exchange } from './play-exchanges.ts'
import type { Shape } from './shape.ts'

/** Where recordings of builds are kept, one file each. A file is never changed; a release adds one. */
export const exchangesFolder = fileURLToPath(new URL('../../exchanges', import.meta.url))

const shape: z.ZodType<Shape> = z.lazy(() =>
  z.union([z.string(), z.array(shape), z.record(z.string(), shape)]),
)
const recording = z.strictObject({
  /** The commit. */
  build: z.string(),
  exchanges: z.array(
    z.strictObject({
      ...{ name: z.string(), request: z.string(), body: z.unknown(), status: z.int() },
      refusal: z.strictObject({ code: z.string(), retryable: z.boolean() }).nullable(),
      answer: shape,
    }),
  ) satisfies z.ZodType<Exchange[]>,
  /** Events as they were published, byte for byte. */
  messages: z.array(z.strictObject({ id: z.string(), body: z.string() })),
  /** By collection, in MongoDB's extended JSON with types. */
  documents: z.record(z.string(), z.array(z.unknown())),
})
export type Recording = z.infer<typeof recording>

/** The recordings of all builds, by name. */
export function readRecordings(): ReadonlyMap<string, Recording> {
  return new Map(
    readdirSync(exchangesFolder)
      .filter((file) => file.endsWith('.json'))
      .map((file) => [
        file.replace(/\.json$/, ''),
        recording.parse(JSON.parse(readFileSync(join(exchangesFolder, file), 'utf8'))),
      ]),
  )
}
