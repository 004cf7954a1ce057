import type { SealedReceipt } from '@pitboss/contracts/objects/receipt'
import type { RoundsContext } from '../../context.ts'
import type { RoundState } from '../../rules/round.ts'
import type { ReceiptsStore } from './storage/receipts-store.ts'

export type ReceiptsContext = RoundsContext & {
  readonly receipts: ReceiptsStore
  /** Counts a receipt that was kept; the alarm is for one that differs. */
  readonly noteReceipt: (round: RoundState, receipt: SealedReceipt) => void
}
