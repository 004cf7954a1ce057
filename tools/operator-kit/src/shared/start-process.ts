import type { FastifyInstance } from 'fastify'
import { z } from 'zod'

const BAD_CONFIG_EXIT_CODE = 78
const CLOSE_DEADLINE_MS = 5000

/** Parses the environment, or ends the process with code 78 and a line per variable that is wrong. */
export function readEnvironment<T>(schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(process.env)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) process.stderr.write(`${issue.path.join('.')}: ${issue.message}\n`)
  process.exit(BAD_CONFIG_EXIT_CODE)
}

/** A port from 0 (any free one) to 65535, as text in the environment. */
export const portVariable = z
  .string()
  .regex(/^[0-9]{1,5}$/, 'must be a port')
  .transform(Number)
  .pipe(z.number().max(65535))

/**
 * Listens, prints the one ready line and closes on SIGTERM or SIGINT, and when a supervisor that gave it a
 * channel is gone.
 */
export async function startProcess(app: FastifyInstance, host: string, port: number): Promise<void> {
  await app.listen({ host, port })
  const address = app.server.address()
  const boundPort = typeof address === 'object' && address !== null ? address.port : port
  process.stdout.write(`${JSON.stringify({ ready: true, port: boundPort })}\n`)
  const stop = (): void => {
    setTimeout(() => process.exit(1), CLOSE_DEADLINE_MS).unref()
    app.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`${String(error)}\n`)
        process.exit(1)
      },
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  process.once('disconnect', stop)
}
