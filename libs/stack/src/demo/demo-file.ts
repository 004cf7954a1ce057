import { z } from 'zod'

/** What the tour reads of demo.json. Source: contract section 9. */
export const demoFile = z.looseObject({
  base_url: z.string(),
  operator_id: z.string(),
  test: z.object({ api_key: z.string(), api_secret: z.string() }),
  wallet: z.object({ url: z.string(), secret: z.string() }),
  receiver: z.object({ url: z.string(), secret: z.string(), webhook_id: z.string() }),
  dashboard: z.object({ email: z.string(), password: z.string() }),
})
export type DemoFile = z.infer<typeof demoFile>
