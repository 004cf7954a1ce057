import { z } from 'zod'

/** A line of the run's control: addresses first, the offset of the clock whenever it changes. */
export const controlLine = z.object({
  natsUrl: z.string().optional(),
  mongodbUrl: z.string().optional(),
  clockOffsetMs: z.number(),
})
