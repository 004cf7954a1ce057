import type { WebhooksContext } from '../../context.ts'
import type { WingGiven } from '../../wing.ts'
import type { ReplayStore } from './storage/replay-store.ts'

export type ReplaysContext = WebhooksContext &
  Pick<WingGiven, 'replaysMax'> & {
    readonly replays: ReplayStore
    /** Has the jobs advanced at once, when they are advanced here. */
    readonly wake: () => void
  }
