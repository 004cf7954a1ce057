import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { EngineError } from '../engine-error.ts'
import { type EngineProcess, startEngineProcess } from '../processes/engine-process.ts'
import type { ProcessRecord } from '../processes/process-record.ts'

const program = fileURLToPath(new URL('./gateway/main.ts', import.meta.url))
const readyTimeoutMs = 15_000
const readyLine = z.object({ ready: z.literal(true), port: z.number().int().positive() })

/**
 * Starts the MongoDB wire gateway and waits until it listens. It ends by itself when its input closes, so it
 * cannot outlive this process.
 */
export async function startGateway(options: {
  socketFolder: string
  port: number
  logPath: string
  record: ProcessRecord
}): Promise<EngineProcess> {
  const { socketFolder, port, logPath, record } = options
  const gateway = await startEngineProcess(
    {
      name: 'documentdb-gateway',
      program: process.execPath,
      args: [program],
      env: {
        ...process.env,
        PITBOSS_PG_SOCKET_DIR: socketFolder,
        PITBOSS_DOCUMENTDB_PORT: String(port),
        NODE_OPTIONS: '',
      },
      logPath,
      endBy: [{ signal: 'SIGTERM', waitMs: 3_000 }],
      piped: true,
    },
    record,
  )
  if (await isReady(gateway, port)) return gateway
  await gateway.end()
  throw new EngineError(`the MongoDB gateway of DocumentDB did not start on port ${port}; see ${logPath}`)
}

function isReady(gateway: EngineProcess, port: number): Promise<boolean> {
  const { stdout } = gateway.child
  if (stdout === null) return Promise.resolve(false)
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), readyTimeoutMs)
    const lines = createInterface({ input: stdout })
    lines.on('line', (line) => {
      const ready = parseReady(line)
      if (ready !== null) resolve(ready.port === port)
    })
    void gateway.exited.then(() => {
      clearTimeout(timer)
      resolve(false)
    })
  })
}

function parseReady(line: string): z.infer<typeof readyLine> | null {
  try {
    return readyLine.parse(JSON.parse(line))
  } catch {
    return null
  }
}
