import type { CallHandler } from '@pitboss/bus/serve-calls'
import type { Poll } from '@pitboss/runtime/poll'
import type * as wings from '@pitboss/storage/wing'
import type { PostWebhook } from './clients/post-webhook.ts'
import type { WebhooksContext } from './context.ts'

type WingGiven = {
  /** Milliseconds by which this process's clock is ahead of the database's. */
  readonly clockAheadMs: () => number
  readonly post: PostWebhook
  /** Most replays of an account under way at once. */
  readonly replaysMax: number
}

export type Wing = wings.Wing<
  WebhooksContext,
  WingGiven,
  {
    readonly calls: readonly CallHandler[]
    readonly start?: () => Poll
  }
>
