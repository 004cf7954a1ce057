import { z } from 'zod'

const schema = z.looseObject({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal']),
  time: z.string(),
  msg: z.string().default(''),
})

/** A line that one of our processes logged. */
export type LogRecord = z.infer<typeof schema>

/** Reads a line of a log; null for one that is none of ours. */
export function parseLogRecord(line: string): LogRecord | null {
  if (!line.startsWith('{')) return null
  try {
    return schema.safeParse(JSON.parse(line)).data ?? null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
