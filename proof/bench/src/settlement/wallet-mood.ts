import { z } from 'zod'

/**
 * How the wallet of one operator behaves: it answers after a while, says 503 at once, or takes the call and
 * never answers.
 */
const walletMood = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ok'), afterMs: z.number() }),
  z.object({ kind: z.literal('down') }),
  z.object({ kind: z.literal('hang') }),
])
export type WalletMood = z.infer<typeof walletMood>

/** What the wallet's process is told. `name` is the first part of the path that its operator's wallet has. */
export const moodOrder = z.object({ name: z.string(), mood: walletMood })
