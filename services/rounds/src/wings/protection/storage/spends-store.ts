import type { Scope } from '@pitboss/contracts/caller'
import type { Db, Decimal128 } from 'mongodb'
import { readToEnd } from '@pitboss/storage/bounded-read'
import { type PackedRound, scopeKey } from '../../../storage/round-document.ts'

/** Stakes that were taken and payouts that were won, in minor units. */
export type Spend = { readonly stakes: bigint; readonly payouts: bigint }

export type SpendsStore = ReturnType<typeof createSpendsStore>

export function createSpendsStore({ db }: { db: Db }) {
  const rounds = db.collection<PackedRound>('rounds')

  return {
    /** Stakes and payouts of the session's game rounds, few by the start gap. Free bets have no stake. */
    async of(scope: Scope, sessionId: string): Promise<Spend> {
      const filter = { scope: scopeKey(scope), sessionId, driver: 'game' }
      const [sum] = await readToEnd(
        rounds.aggregate<{ stakes: Decimal128 | number; payouts: Decimal128 | number }>([
          { $match: { ...filter, status: { $in: ['OPEN', 'SETTLING', 'SETTLED'] } } },
          {
            $group: {
              _id: null,
              stakes: { $sum: { $cond: ['$freeBet', 0, { $toDecimal: '$stake' }] } },
              payouts: { $sum: { $toDecimal: { $ifNull: ['$payout', '0'] } } },
            },
          },
        ]),
      )
      const { stakes = 0, payouts = 0 } = sum ?? {}
      return { stakes: BigInt(stakes.toString()), payouts: BigInt(payouts.toString()) }
    },
  }
}
