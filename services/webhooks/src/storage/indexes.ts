import { auditOutboxIndex } from '@pitboss/storage/audit-outbox'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { figureIndexes } from '@pitboss/storage/figures-store'
import { idempotencyKeyIndexes } from '@pitboss/storage/idempotency-keys'
import { leaseIndexes } from '@pitboss/storage/lease'
import { rewindIndexes } from '@pitboss/storage/rewind-store'
import type { SealedPlace } from '@pitboss/storage/rewrite-seals'
import type { Document } from 'mongodb'

export const coreAudited = ['endpoints', 'deliveries', 'parked', 'rewinds'] as const

const pending = { status: 'PENDING' }
const withItems = { hi: { $gt: new Date(0) } }

/** Partial ones: a claim costs the same beside a million ended deliveries. */
export const coreIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  ...leaseIndexes,
  ...idempotencyKeyIndexes,
  ...rewindIndexes,
  ...figureIndexes,
  log: [
    // Partial although every event is in it: the embedded engine reads by a whole index only in a large
    // collection.
    { name: 'event', key: { e: 1 }, partialFilterExpression: { e: { $gt: '' } } },
    { name: 'round', key: { r: 1 }, partialFilterExpression: { r: { $gt: '' } } },
    { name: 'rare', key: { x: 1, _id: 1 }, partialFilterExpression: { x: { $gt: '' } } },
  ],
  // The oldest part of the log, which nothing writes any more.
  events: [
    { name: 'recording_order', key: { operatorId: 1, environment: 1, seq: 1 }, unique: true },
    { name: 'type_order', key: { operatorId: 1, environment: 1, type: 1, seq: 1 } },
    { name: 'created_high', key: { operatorId: 1, environment: 1, createdHighAt: 1, seq: 1 } },
    { name: 'of_round', key: { roundId: 1 }, partialFilterExpression: { roundId: { $gt: '' } } },
    // Leaves with the next release.
    { name: 'fact', key: { fact: 1 }, unique: true, partialFilterExpression: { fact: { $gt: '' } } },
    { name: 'round', key: { roundId: 1 }, retired: true },
  ],
  endpoints: [
    { name: 'owner', key: { operatorId: 1, environment: 1, _id: 1 } },
    { name: 'lease', key: { leaseOwner: 1 } },
    { name: 'due', key: { dueAt: 1 }, retired: true },
    { name: 'late', key: { isLate: 1 }, partialFilterExpression: { isLate: true } },
    {
      name: 'breaker_open',
      key: { 'health.breaker.probeAt': 1 },
      partialFilterExpression: { 'health.breaker.probeAt': { $gt: new Date(0) } },
    },
    auditOutboxIndex,
  ],
  deliveries: [
    { name: 'list', key: { operatorId: 1, environment: 1, order: -1 } },
    { name: 'list_status', key: { status: 1, operatorId: 1, environment: 1, order: -1 } },
    { name: 'list_webhook', key: { webhookId: 1, order: -1 } },
    // Few documents have these types: transaction.failed, transaction.rollback, webhook.test.
    {
      name: 'list_rare_type',
      key: { operatorId: 1, environment: 1, eventType: 1, order: -1 },
      partialFilterExpression: { eventType: { $gt: 'transaction.bet', $lt: 'transaction.win' } },
    },
    {
      name: 'list_test',
      key: { operatorId: 1, environment: 1, order: -1 },
      partialFilterExpression: { eventType: 'webhook.test' },
    },
    { name: 'event', key: { eventId: 1 } },
    { name: 'lane_due', key: { webhookId: 1, lane: 1, dueAt: 1 }, partialFilterExpression: pending },
    { name: 'oldest', key: { webhookId: 1, order: 1 }, partialFilterExpression: pending },
    { name: 'due', key: { webhookId: 1, dueAt: 1 }, partialFilterExpression: pending },
    { name: 'held', key: { webhookId: 1 }, partialFilterExpression: { status: 'HELD' } },
    { name: 'claimed', key: { webhookId: 1 }, partialFilterExpression: { claimToken: { $gt: 0 } } },
    {
      name: 'attempted',
      key: { attemptedAt: 1 },
      partialFilterExpression: { attemptedAt: { $gt: new Date(0) } },
    },
    {
      name: 'replay_job',
      key: { replayId: 1, status: 1 },
      partialFilterExpression: { replayId: { $gt: '' } },
    },
    // Leaves with the next release.
    {
      name: 'replay',
      key: { replayId: 1, status: 1 },
      partialFilterExpression: { replayId: { $type: 'string' } },
    },
    auditOutboxIndex,
  ],
  parked: [{ name: 'parked_at', key: { parkedAt: 1 } }, auditOutboxIndex],
  // Those without items are in no list.
  ranges: [
    { name: 'list', key: { operatorId: 1, environment: 1, hi: -1 }, partialFilterExpression: withItems },
    { name: 'list_webhook', key: { webhookId: 1, hi: -1 }, partialFilterExpression: withItems },
    {
      name: 'list_rare',
      key: { operatorId: 1, environment: 1, x: 1, hi: -1 },
      partialFilterExpression: { x: { $gt: '' } },
    },
    { name: 'stored', key: { at: 1 }, partialFilterExpression: withItems },
  ],
  instances: [],
}

export const sealedSecrets: readonly SealedPlace[] = [
  {
    collection: 'endpoints',
    purpose: 'webhook-secret',
    filter: {},
    holding: (range) => ({ secrets: { $elemMatch: { sealed: range } } }),
    valuesIn: ({ _id, operatorId, environment, secrets }) =>
      secrets.map(({ sealed }: Document, index: number) => ({
        path: `secrets.${index}.sealed`,
        sealed: String(sealed),
        aad: `webhook/${operatorId}/${environment}/${_id}`,
      })),
  },
]
