import type { Scope } from '@pitboss/contracts/caller'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Db } from 'mongodb'
import { minorSums, unitOf } from '../rules/report.ts'
import type { Moved } from '../../../rules/round.ts'
import { readMaxMs, readToEnd } from '@pitboss/storage/bounded-read'
import type { PendingFact } from './report-facts.ts'
import { type RoundFields, scopeKey } from '../../../storage/round-document.ts'

/** A change of a round after its end: what it changed, when, and when the round had ended. */
type AdjustmentDocument = Moved<string> &
  Pick<RoundFields, 'scope' | 'game' | 'currency' | 'brandId'> & {
    _id: string
    at: Date
    endedAt: Date
    /** The UTC day on which the round ended, where that is another than the day of the change; else null. */
    restates: string | null
  }
export type Adjustment = Pick<AdjustmentDocument, 'game' | 'currency' | 'brandId' | 'at' | 'endedAt'> &
  Moved<bigint>

export type Restatement = Pick<AdjustmentDocument, 'game' | 'currency' | 'brandId'> & {
  readonly day: string
  readonly at: Date
}

export const reportAdjustmentIndexes: Readonly<Record<'report_adjustments', readonly IndexDeclaration[]>> = {
  report_adjustments: [
    { key: { scope: 1, at: 1 }, name: 'scope_at' },
    { key: { scope: 1, endedAt: 1 }, name: 'scope_ended' },
  ],
}

export type ReportAdjustments = ReturnType<typeof createReportAdjustments>

/** Creates the store of what rounds changed after their ends, one by one. They are few. */
export function createReportAdjustments({ db }: { db: Db }) {
  const adjustments = db.collection<AdjustmentDocument>('report_adjustments')

  return {
    /** Records the changes among these facts, each once; to be done before units count them. */
    async record(facts: readonly PendingFact[]): Promise<void> {
      const writes = facts.flatMap(({ id: _id, scope, game, currency, brandId, at, adjusted }) => {
        if (adjusted === null) return []
        const { endedAt, stakes, payouts, refunds } = adjusted
        const [day, ownDay] = [unitOf(endedAt, 'day'), unitOf(at, 'day')]
        const sums = { stakes: String(stakes), payouts: String(payouts), refunds: String(refunds) }
        const place = { scope, game, currency, brandId, at, endedAt, restates: day === ownDay ? null : day }
        return [
          { updateOne: { filter: { _id }, update: { $setOnInsert: { ...place, ...sums } }, upsert: true } },
        ]
      })
      if (writes.length > 0) await adjustments.bulkWrite(writes, { ordered: false })
    },

    /** The changes that were made in a time, or whose rounds ended in it. Ends are exclusive. */
    async within(scope: Scope, by: 'at' | 'endedAt', from: Date, to: Date): Promise<Adjustment[]> {
      const found = await adjustments
        .find({ scope: scopeKey(scope), [by]: { $gte: from, $lt: to } })
        .maxTimeMS(readMaxMs)
        .toArray()
      return found.map((one) => ({ ...one, ...minorSums(one) }))
    },

    /** The days of a time whose rounds have changed on a later day, by place. Ends are exclusive. */
    async restated(scope: Scope, from: Date, to: Date): Promise<Restatement[]> {
      const match = { scope: scopeKey(scope), endedAt: { $gte: from, $lt: to }, restates: { $gt: '' } }
      const _id = { day: '$restates', game: '$game', currency: '$currency', brandId: '$brandId' }
      const found = await readToEnd(
        adjustments.aggregate<{ _id: Omit<Restatement, 'at'>; at: Date }>([
          { $match: match },
          { $group: { _id, at: { $max: '$at' } } },
        ]),
      )
      return found.map(({ _id: place, at }) => ({ ...place, at }))
    },
  }
}
