import { auditOutboxIndex } from '@pitboss/storage/audit-outbox'
import { type IndexDeclaration, partialIndex as partial } from '@pitboss/storage/ensure-indexes'
import { figureIndexes } from '@pitboss/storage/figures-store'
import { idempotencyKeyIndexes } from '@pitboss/storage/idempotency-keys'
import { leaseIndexes } from '@pitboss/storage/lease'
import { rewindIndexes } from '@pitboss/storage/rewind-store'
import type { SealedPlace } from '@pitboss/storage/rewrite-seals'
import type { Document } from 'mongodb'

export const coreAudited = ['endpoints', 'deliveries', 'parked', 'rewinds'] as const

const probeAt = 'health.breaker.probeAt'
const ofRareType = { eventType: { $gt: 'transaction.bet', $lt: 'transaction.win' } }
const pending = { status: 'PENDING' }
const ofScope = { operatorId: 1, environment: 1 } as const
const withItems = { hi: { $gt: new Date(0) } }

export const coreIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  ...leaseIndexes,
  ...idempotencyKeyIndexes,
  ...rewindIndexes,
  ...figureIndexes,
  log: [
    // Partial although every event is in it: the embedded engine reads by a whole index only in a large
    // collection.
    partial('event', { e: 1 }, { e: { $gt: '' } }),
    partial('round', { r: 1 }, { r: { $gt: '' } }),
    partial('rare', { x: 1, _id: 1 }, { x: { $gt: '' } }),
  ],
  // The oldest part of the log, which nothing writes any more.
  events: [
    { name: 'recording_order', key: { ...ofScope, seq: 1 }, unique: true },
    { name: 'type_order', key: { ...ofScope, type: 1, seq: 1 } },
    { name: 'created_high', key: { ...ofScope, createdHighAt: 1, seq: 1 } },
    partial('of_round', { roundId: 1 }, { roundId: { $gt: '' } }),
    // Leaves with the next release.
    { ...partial('fact', { fact: 1 }, { fact: { $gt: '' } }), unique: true },
    { name: 'round', key: { roundId: 1 }, retired: true },
  ],
  endpoints: [
    { name: 'owner', key: { ...ofScope, _id: 1 } },
    { name: 'lease', key: { leaseOwner: 1 } },
    { name: 'due', key: { dueAt: 1 }, retired: true },
    partial('late', { isLate: 1 }, { isLate: true }),
    partial('breaker_open', { [probeAt]: 1 }, { [probeAt]: { $gt: new Date(0) } }),
    auditOutboxIndex,
  ],
  deliveries: [
    { name: 'list', key: { ...ofScope, order: -1 } },
    { name: 'list_status', key: { status: 1, ...ofScope, order: -1 } },
    { name: 'list_webhook', key: { webhookId: 1, order: -1 } },
    // Few documents have these types: transaction.failed, transaction.rollback, webhook.test.
    partial('list_rare_type', { ...ofScope, eventType: 1, order: -1 }, ofRareType),
    partial('list_test', { ...ofScope, order: -1 }, { eventType: 'webhook.test' }),
    { name: 'event', key: { eventId: 1 } },
    partial('lane_due', { webhookId: 1, lane: 1, dueAt: 1 }, pending),
    partial('oldest', { webhookId: 1, order: 1 }, pending),
    partial('due', { webhookId: 1, dueAt: 1 }, pending),
    partial('held', { webhookId: 1 }, { status: 'HELD' }),
    partial('claimed', { webhookId: 1 }, { claimToken: { $gt: 0 } }),
    partial('attempted', { attemptedAt: 1 }, { attemptedAt: { $gt: new Date(0) } }),
    partial('replay_job', { replayId: 1, status: 1 }, { replayId: { $gt: '' } }),
    // Leaves with the next release.
    partial('replay', { replayId: 1, status: 1 }, { replayId: { $type: 'string' } }),
    auditOutboxIndex,
  ],
  parked: [{ name: 'parked_at', key: { parkedAt: 1 } }, auditOutboxIndex],
  // Those without items are in no list.
  ranges: [
    partial('list', { ...ofScope, hi: -1 }, withItems),
    partial('list_webhook', { webhookId: 1, hi: -1 }, withItems),
    partial('list_rare', { ...ofScope, x: 1, hi: -1 }, { x: { $gt: '' } }),
    partial('stored', { at: 1 }, withItems),
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
