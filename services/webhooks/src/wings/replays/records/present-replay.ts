import type { replayJobSchema } from '@pitboss/contracts/objects/webhook'
import type { z } from 'zod'
import { instantText } from '../../../records/webhook-records.ts'
import type { ReplayDocument } from '../storage/replay-store.ts'

/** A replay as counted just now; a preview has no id and is not stored. */
export type CountedReplay = Omit<ReplayDocument, '_id' | 'status' | 'doneSeq' | 'selected'> & {
  readonly _id: string | null
  readonly status: ReplayDocument['status'] | 'PREVIEW'
}

/** The public record of a replay. Source: docs/contract.md, section 11. */
export function presentReplay(replay: CountedReplay): z.infer<typeof replayJobSchema> {
  return {
    replay_id: replay._id,
    webhook_id: replay.webhookId,
    status: replay.status,
    from: replay.from.toISOString(),
    to: replay.to.toISOString(),
    types: replay.types,
    only: replay.only,
    matched: replay.matched,
    created: replay.created,
    delivered: replay.delivered,
    failed: replay.failed,
    created_at: replay.createdAt.toISOString(),
    finished_at: instantText(replay.finishedAt),
  }
}
