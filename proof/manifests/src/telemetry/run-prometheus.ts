import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePort } from '@pitboss/engines/processes/free-port'
import { waitFor } from '@pitboss/testing/wait-for'
import { z } from 'zod'
import { findProgramOf } from '../find-tool.ts'

const readyWithinMs = 60_000

const answer = z.object({
  status: z.literal('success'),
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        value: z.tuple([z.number(), z.string()]).optional(),
        values: z.array(z.tuple([z.number(), z.string()])).optional(),
      }),
    ),
  }),
})
type Series = z.infer<typeof answer>['data']['result']

export type Prometheus = {
  /** Series of an expression now. @throws Error for a query that Prometheus refuses */
  query(expr: string): Promise<Series>
  /** Series of an expression within a window, in seconds since 1970. */
  queryRange(expr: string, window: { startS: number; endS: number; stepS: number }): Promise<Series>
  stop(): Promise<void>
}

/** Starts Debian's Prometheus on a free port of loopback, with `prometheus.yaml` and the data in `folder`. */
export async function runPrometheus(folder: string): Promise<Prometheus> {
  const program = await findProgramOf('prometheus')
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(
    program,
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--storage.tsdb.retention.time=20y',
      `--web.listen-address=${address}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => {
    printed = (printed + chunk.toString()).slice(-20_000)
  })
  const get = async (path: string, search: Record<string, string>): Promise<Series> => {
    const response = await fetch(`http://${address}${path}?${new URLSearchParams(search).toString()}`)
    const body: unknown = await response.json()
    const read = answer.safeParse(body)
    if (!read.success) throw new Error(`Prometheus refuses ${search.query}: ${JSON.stringify(body)}`)
    return read.data.data.result
  }
  await waitFor(
    async () => {
      if (child.exitCode !== null) throw new Error(`Prometheus ended with ${child.exitCode}: ${printed}`)
      return (await fetch(`http://${address}/-/ready`).catch(() => null))?.ok ?? false
    },
    { timeoutMs: readyWithinMs, what: 'Prometheus to be ready' },
  )
  return {
    query: (query) => get('/api/v1/query', { query }),
    queryRange: (query, { startS, endS, stepS }) =>
      get('/api/v1/query_range', { query, start: `${startS}`, end: `${endS}`, step: `${stepS}` }),
    async stop() {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}
