import { z } from 'zod'

/**
 * Mood of one operator's wallet: it answers after a while, says 503 at once, or takes the call and never
 * answers.
 */
const walletMood = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ok'), afterMs: z.number() }),
  z.object({ kind: z.literal('down') }),
  z.object({ kind: z.literal('hang') }),
])
export type WalletMood = z.infer<typeof walletMood>

/** Message to the wallet's process. `name` is the first part of the path of its operator's wallet. */
export const moodOrder = z.object({ name: z.string(), mood: walletMood })
