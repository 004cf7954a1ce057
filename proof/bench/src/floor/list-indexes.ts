import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'

/**
 * What the product's lists of rounds and of movements are read by. Written out, so that the floor stays what
 * it is when the product's own indexes change.
 */
export const listIndexes: Readonly<Record<'rounds' | 'movements', readonly IndexDeclaration[]>> = {
  rounds: [
    { name: 'id', key: { scope: 1, _id: -1 } },
    { name: 'player', key: { scope: 1, playerId: 1, _id: -1 } },
    { name: 'session', key: { scope: 1, sessionId: 1, _id: -1 } },
    { name: 'game', key: { scope: 1, game: 1, _id: -1 } },
    { name: 'transactions', key: { scope: 1, transactionIds: 1 } },
    { name: 'completed', key: { scope: 1, completedAt: 1 } },
    { name: 'unfinished', key: { scope: 1, _id: -1 }, partialFilterExpression: { unfinished: true } },
    { name: 'chain', key: { chain: 1, nonce: -1 }, unique: true },
  ],
  movements: [
    { name: 'reference', key: { walletKey: 1, reference: 1 }, unique: true },
    { name: 'player', key: { walletKey: 1, playerId: 1, reference: 1 } },
    { name: 'round', key: { roundId: 1 } },
    { name: 'session', key: { sessionId: 1 } },
    {
      name: 'attempted',
      key: { attemptedAt: 1 },
      partialFilterExpression: { attemptedAt: { $gt: new Date(0) } },
    },
    {
      name: 'rare_status',
      key: { walletKey: 1, status: 1, reference: 1 },
      partialFilterExpression: { status: { $lt: 'SUCCESS' } },
    },
    {
      name: 'rare_type',
      key: { walletKey: 1, type: 1, reference: 1 },
      partialFilterExpression: { type: { $gt: 'BET', $lt: 'WIN' } },
    },
  ],
}
