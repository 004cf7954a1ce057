import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'

const epoch = new Date(0)
const outbox: IndexDeclaration = {
  key: { outboxAt: 1 },
  name: 'outbox',
  partialFilterExpression: { outboxAt: { $gt: epoch } },
}

/** Indexes on the same fields as the product's, as many of them: a write includes them. */
export const floorIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  commitments: [],
  rounds: [
    { key: { chain: 1, nonce: -1 }, name: 'chain_nonce', unique: true },
    {
      key: { chain: 1 },
      name: 'one_unfinished',
      unique: true,
      partialFilterExpression: { unfinished: true },
    },
    {
      key: { chain: 1, openedUnder: 1 },
      name: 'chain_opened_under',
      unique: true,
      partialFilterExpression: { openedUnder: { $gt: '' } },
    },
    { key: { scope: 1, _id: -1 }, name: 'scope_id' },
    { key: { scope: 1, playerId: 1, _id: -1 }, name: 'scope_player_id' },
    { key: { scope: 1, sessionId: 1, _id: -1 }, name: 'scope_session_id' },
    { key: { scope: 1, transactionIds: 1 }, name: 'scope_transactions' },
    { key: { scope: 1, completedAt: 1 }, name: 'scope_completed' },
    { key: { dueAt: 1 }, name: 'due_at', partialFilterExpression: { dueAt: { $gt: epoch } } },
    outbox,
  ],
  movements: [
    { key: { walletKey: 1, reference: 1 }, name: 'wallet_reference', unique: true },
    { key: { walletKey: 1, playerId: 1, reference: 1 }, name: 'player' },
    { key: { roundId: 1 }, name: 'round' },
    { key: { sessionId: 1 }, name: 'session' },
    {
      key: { callingRound: 1 },
      name: 'calling_round',
      unique: true,
      partialFilterExpression: { callingRound: { $gt: '' } },
    },
    { key: { walletKey: 1, dueAt: 1 }, name: 'due', partialFilterExpression: { dueAt: { $gt: epoch } } },
    { key: { reference: 1 }, name: 'pending', partialFilterExpression: { status: 'PENDING' } },
    outbox,
  ],
}
