import { join, resolve } from 'node:path'
import { z } from 'zod'
import { readJson } from './state-file.ts'

const keyPair = z.object({ api_key: z.string(), api_secret: z.string() })
const address = z.object({ url: z.string(), secret: z.string() })
const engine = z.object({ url: z.string(), kind: z.string() })

/**
 * `demo.json` in the data folder of a running stack; it follows restarts. Source: docs/contract.md, section
 * 9.
 */
const demoFileSchema = z.object({
  base_url: z.string(),
  operator_id: z.string(),
  test: keyPair,
  live: keyPair,
  dashboard: z.object({ email: z.string(), password: z.string() }),
  wallet: address,
  live_wallet: address,
  receiver: address.extend({ webhook_id: z.string() }),
  engines: z.object({ mongodb: engine, nats: engine }),
  processes: z.array(
    z.object({
      name: z.string(),
      replica: z.number(),
      pid: z.number().nullable(),
      http_url: z.string().optional(),
    }),
  ),
})
export type DemoFile = z.infer<typeof demoFileSchema>

/** The file as it stands now; null when there is none (a stack without demo, or none at all). */
export function readDemoFile(dataDir: string): DemoFile | null {
  return readJson(join(resolve(dataDir), 'demo.json'), demoFileSchema)
}

/** The file of a stack that has one. @throws Error when there is none. */
export function requireDemoFile(dataDir: string): DemoFile {
  const demo = readDemoFile(dataDir)
  if (demo === null) throw new Error(`there is no demo.json in ${dataDir}`)
  return demo
}
