import { z } from 'zod'
import type { Sample } from './run-load.ts'

/** A sample that another process measured. */
export const sampleSchema: z.ZodType<Sample> = z.object({
  concurrency: z.number(),
  seconds: z.number(),
  count: z.number(),
  failed: z.number(),
  rate: z.number(),
  latencyMs: z.object({ p50: z.number(), p95: z.number(), p99: z.number(), max: z.number() }),
})
