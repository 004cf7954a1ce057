import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const keyPair = z.object({ api_key: z.string(), api_secret: z.string() })
const address = z.object({ url: z.string(), secret: z.string() })

/** `demo.json` of a running stack. Source: contract section 9. */
const demoSchema = z.object({
  base_url: z.string(),
  operator_id: z.string(),
  test: keyPair,
  live: keyPair,
  dashboard: z.object({ email: z.string(), password: z.string() }),
  wallet: address,
  live_wallet: address,
  receiver: address.extend({ webhook_id: z.string() }),
  engines: z.object({
    mongodb: z.object({ url: z.string(), kind: z.string() }),
    nats: z.object({ url: z.string(), kind: z.string() }),
  }),
  processes: z.array(
    z.object({
      name: z.string(),
      replica: z.number(),
      pid: z.number().nullable(),
      http_url: z.string().optional(),
    }),
  ),
})
export type Demo = z.infer<typeof demoSchema>

export function readDemo(dataDir: string): Demo {
  return demoSchema.parse(JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')))
}
