import type { Scope } from '@pitboss/contracts/caller'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Db } from 'mongodb'
import type { Meaning, Refusal } from '../rules/refusal.ts'
import { scopeKey } from './round-document.ts'

const epoch = new Date(0)

/** An id under which nothing can happen any more, once for stakes and wins, and once for what gives back. */
export type DeadId = Refusal & {
  readonly kind: 'movement' | 'reversal'
  readonly transactionId: string
  /** Of the request that was refused; null for a tombstone, which is for every stake and win. */
  readonly meaning: Meaning | null
  /** Of the request that has proposed it. */
  readonly token: string
  /** False until no round had a movement of this id; until then an intent makes it give way. */
  readonly isFinal: boolean
  /** Null for as long as rounds are kept. */
  readonly forgetAt: Date | null
}

export const deadIdKinds: readonly DeadId['kind'][] = ['movement', 'reversal']

type DeadIdDocument = DeadId & { _id: string; scope: string }

export const deadIdIndexes: readonly IndexDeclaration[] = [
  {
    key: { forgetAt: 1 },
    name: 'forget_at',
    expireAfterSeconds: 0,
    partialFilterExpression: { forgetAt: { $gt: epoch } },
  },
]

export type DeadIdsStore = ReturnType<typeof createDeadIdsStore>

/** Creates the store of dead ids. Source: docs/contract.md, section 1, "What a refusal promises". */
export function createDeadIdsStore({ db }: { db: Db }) {
  const deadIds = db.collection<DeadIdDocument>('dead_ids')
  const keyOf = (scope: Scope, kind: DeadId['kind'], id: string) => `${kind}/${scopeKey(scope)}/${id}`
  const withoutKey = ({ _id, scope: _scope, ...dead }: DeadIdDocument): DeadId => dead

  return {
    /** The entries of an id, final or not. */
    async find(scope: Scope, transactionId: string): Promise<DeadId[]> {
      const keys = deadIdKinds.map((kind) => keyOf(scope, kind, transactionId))
      return (await deadIds.find({ _id: { $in: keys } }).toArray()).map(withoutKey)
    },

    /** Inserts an entry, or finds the one that was first; null when that one is gone again. */
    async propose(scope: Scope, dead: DeadId): Promise<DeadId | null> {
      const _id = keyOf(scope, dead.kind, dead.transactionId)
      if (await insertedFirst(() => deadIds.insertOne({ ...dead, _id, scope: scopeKey(scope) }))) return dead
      const found = await deadIds.findOne({ _id })
      return found === null ? null : withoutKey(found)
    },

    /** Makes an entry final and moves its end; false when it has given way. */
    async finish(scope: Scope, { kind, transactionId, token }: DeadId, forgetAt: Date | null) {
      const { matchedCount } = await deadIds.updateOne(
        { _id: keyOf(scope, kind, transactionId), token },
        { $set: { isFinal: true, forgetAt } },
      )
      return matchedCount === 1
    },

    /** Removes an entry that is not final. */
    async giveWay(scope: Scope, { kind, transactionId, token }: DeadId): Promise<void> {
      await deadIds.deleteOne({ _id: keyOf(scope, kind, transactionId), token, isFinal: false })
    },
  }
}
