import type { RoundsContext } from '../../context.ts'
import type { Mailbox } from '@pitboss/runtime/mailbox'
import type { ReportsStore } from './storage/reports-store.ts'

export type ReportsContext = Pick<RoundsContext, 'clock' | 'sums'> & {
  readonly reports: ReportsStore
  /** One report of an account at a time: each holds the players of its window. */
  readonly readings: Mailbox
}
