import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { eventType } from '@pitboss/contracts/objects/event'
import { deliveryStatus } from '@pitboss/contracts/objects/webhook'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { collectionsOf } from '../../src/storage/collections.ts'
import { createDeliveryStore } from '../../src/storage/delivery-store.ts'
import { indexes } from '../../src/all-wings.ts'
import { newDocument } from '../../src/storage/new-delivery.ts'

const db = await openTestDatabase(t)
await ensureIndexes(db, indexes)
const collections = collectionsOf(db)
const { list } = createDeliveryStore(collections)
const scope = { operatorId: 'op', environment: 'SANDBOX' } as const
const types = [...eventType.options, 'webhook.test'] as const
const endpoints = ['whe_one', 'whe_other'] as const

// One delivery of each type, status and endpoint, of this account and of another.
const made = ['op', 'foreign'].flatMap((operatorId) =>
  endpoints.flatMap((webhookId) =>
    types.flatMap((type) =>
      deliveryStatus.options.map((status) => {
        const eventId = `evt_${operatorId}_${type}`
        return { operatorId, webhookId, eventType: type, status, eventId }
      }),
    ),
  ),
)
await collections.deliveries.insertMany(
  made.map(({ status, ...delivery }, index) => ({
    ...newDocument({
      ...{ _id: `dlv_${index}`, environment: 'SANDBOX', lane: 'fresh', createdAt: new Date(1000 * index) },
      ...delivery,
    }),
    status,
  })),
)

/** The places in `made` of what the list is to have, newest first. */
function wanted(filter: Readonly<Record<string, string>>): string[] {
  const fits = made.flatMap((delivery, index) => {
    const isOurs = delivery.operatorId === scope.operatorId
    const fields = new Map<string, string>(Object.entries(delivery))
    return isOurs && Object.entries(filter).every(([name, value]) => fields.get(name) === value)
      ? [index]
      : []
  })
  return fits.toReversed().map((index) => `dlv_${index}`)
}

t.test('a list has each delivery that fits, whichever index serves it, newest first', async (t) => {
  const filters: Readonly<Record<string, string>>[] = [
    {},
    ...types.map((type) => ({ eventType: type })),
    ...types.map((type) => ({ eventType: type, webhookId: 'whe_one' })),
    ...types.map((type) => ({ eventId: `evt_op_${type}` })),
    ...types.map((type) => ({ eventId: `evt_foreign_${type}` })),
    ...deliveryStatus.options.map((status) => ({ status })),
    ...deliveryStatus.options.map((status) => ({ status, webhookId: 'whe_other' })),
    ...deliveryStatus.options.map((status) => ({ status, eventType: 'transaction.rollback' })),
    { webhookId: 'whe_one' },
    { webhookId: 'whe_none' },
  ]
  for (const filter of filters) {
    const found = await list(scope, filter, made.length)
    t.strictSame(
      found.map(({ _id }) => _id),
      wanted(filter),
      JSON.stringify(filter),
    )
  }
})
