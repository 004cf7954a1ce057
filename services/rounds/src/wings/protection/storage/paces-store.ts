import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { readToEnd } from '@pitboss/storage/bounded-read'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Db, Decimal128 } from 'mongodb'
import type { PackedRound } from '../../../storage/round-document.ts'
import type { GameStart } from '../rules/stop.ts'

/** Time for which a start is kept: longer than any gap between two starts. Source: ours. */
const keptS = 3600

type PaceDocument = GameStart & {
  /** `<operatorId>/<environment>/<playerId>`. */
  _id: string
}

export const paceIndexes: readonly IndexDeclaration[] = [
  { key: { startedAt: 1 }, name: 'started_at', expireAfterSeconds: keptS },
]

/** When the round of a start was made, and the last instant of an earlier start that allows it. */
export type Made = { readonly madeAt: Date; readonly notAfter: Date }

export type PacesStore = ReturnType<typeof createPacesStore>

/** Creates the store of players' last game starts. One document decides between replicas. */
export function createPacesStore({ db }: { db: Db }) {
  const paces = db.collection<PaceDocument>('paces')
  const keyOf = (scope: Scope, playerId: string) => `${scopeKey(scope)}/${playerId}`

  return {
    /** The player's last game start; null for none within the last hour. */
    async last(scope: Scope, playerId: string): Promise<GameStart | null> {
      const found = await paces.findOne({ _id: keyOf(scope, playerId) })
      return found === null ? null : { startedAt: found.startedAt, startedBy: found.startedBy }
    },

    /** Records a start; false after another since `notAfter`, or an equal one after the round was made. */
    start(scope: Scope, playerId: string, { startedAt, startedBy }: GameStart, { madeAt, notAfter }: Made) {
      const allowing = [{ startedAt: { $lte: notAfter } }, { startedBy, startedAt: { $lte: madeAt } }]
      const filter = { _id: keyOf(scope, playerId), $or: allowing }
      // A start that is too early matches nothing, so its insert meets the key that is there.
      return insertedFirst(() =>
        paces.updateOne(filter, { $set: { startedAt, startedBy } }, { upsert: true }),
      )
    },
  }
}

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
