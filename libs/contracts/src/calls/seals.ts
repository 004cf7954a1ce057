import { z } from 'zod'
import { defineCall } from '../call.ts'
import { opsOrder } from './auth-ops.ts'

/** A page of sealed values, counted and sealed anew under the current master key. Source: ours. */
const sealPage = z.strictObject({
  /** Ids of the keys that the service has, the current one first. */
  keys: z.array(z.string()),
  /** Documents of all pages, about. */
  documents: z.int(),
  /** Documents of this page. */
  looked: z.int(),
  /** Values that this page wrote anew. */
  rewritten: z.int(),
  /** Values by the id of the key under which they are sealed now. */
  values: z.record(z.string(), z.int()),
  /** Values that do not open under the key that they name. */
  damaged: z.int(),
  /** Names the next page; null after the last. */
  next: z.string().nullable(),
})
/** A position may name a player. */
const positionMax = 4096
const request = z.strictObject({ order: opsOrder, after: z.string().max(positionMax).nullable() })
const budgetMs = 20_000
const pageOf = (subject: string) => defineCall(subject, { request, reply: sealPage, budgetMs })

/** By the service that is asked. */
export const opsRewriteSeals = {
  auth: pageOf('auth.v1.ops.seal-rewrite'),
  rounds: pageOf('rounds.v1.ops.seal-rewrite'),
  'wallet-bridge': pageOf('wallet.v1.ops.seal-rewrite'),
  webhooks: pageOf('webhooks.v1.ops.seal-rewrite'),
}
