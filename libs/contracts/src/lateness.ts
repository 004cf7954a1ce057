import { z } from 'zod'

/** The subject on which each webhooks tells rounds how late deliveries are; any message may be lost. */
export const latenessSubject = 'webhooks.late.v1'

/** How often a webhooks that is late says so. */
export const tellLatenessEveryMs = 200
/** A lateness of which nothing was heard for so long is over: nobody measures it any more. */
export const latenessStandsMs = 1000
/** Accounts that one message names, the latest first. */
export const lateAccountsMax = 200

/** By how many milliseconds events and deliveries are later than their receivers would have them. */
export const latenessSchema = z.object({
  /** The process that tells it. */
  by: z.string(),
  /** The recording of events, of all accounts. */
  recording_ms: z.number(),
  /** First attempts at endpoints of an account. */
  accounts: z.array(z.object({ account: z.string(), late_ms: z.number() })).max(lateAccountsMax),
})
export type Lateness = z.infer<typeof latenessSchema>
