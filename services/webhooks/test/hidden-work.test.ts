import { newId } from '@pitboss/runtime/new-id'
import { systemClock } from '@pitboss/runtime/clock'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { pino } from 'pino'
import t from 'tap'
import { createOpenEndpointView } from '../src/actions/endpoint-view.ts'
import { createDeliveryStore } from '../src/storage/delivery-store.ts'
import { createEndpointStore } from '../src/storage/endpoint-store.ts'
import { freshHealth } from '../src/rules/endpoint-health.ts'
import { never } from '../src/storage/collections.ts'
import { indexes } from '../src/storage/indexes.ts'
import { startRig } from './fixtures/rig.ts'

t.test('a notification counted twice hides a lost one for no longer than seconds', async (t) => {
  const { collections, scope, storage } = await startRig(t, { start: false })
  await ensureIndexes(storage.db, indexes)
  const endpoints = createEndpointStore(collections)
  const deliveries = createDeliveryStore(collections)
  const webhookId = newId('whe')
  const now = new Date()
  await endpoints.insert({
    ...{ _id: webhookId, ...scope, version: 1, url: 'https://hooks.example/', description: null, events: [] },
    ...{ secrets: [], health: freshHealth, heldRule: null, createdAt: now, deletedAt: null, dueAt: never },
    ...{ wakes: 0, leaseOwner: 'worker', leaseToken: 1 },
  })
  /** Makes a delivery and counts it, as every maker of work does; its notification is the caller's. */
  const make = async () => {
    const delivery = {
      ...scope,
      webhookId,
      ...{ _id: newId('dlv'), eventId: newId('evt'), eventType: 'round.started' as const },
      ...{ lane: 'fresh' as const, createdAt: now },
    }
    await deliveries.create([delivery])
    await endpoints.lowerDue([webhookId], now)
    return delivery
  }
  const first = await make()
  const leased = await endpoints.read(webhookId)
  if (leased === null) throw new Error('no endpoint')

  let nowMs = performance.now()
  t.intercept(performance, 'now', { value: () => nowMs })
  const logger = pino({ level: 'silent' })
  const open = createOpenEndpointView({ endpoints, deliveries, clock: systemClock, logger })
  const view = open(leased, { upcoming: null, held: false }, new Map())
  const waiting = () => view.waiting().fresh.map(({ _id }) => _id)
  await view.refresh()
  t.strictSame(waiting(), [first._id])
  const { _id, eventId, eventType } = first
  view.offer([{ _id, webhookId, eventId, eventType, createdAtMs: now.getTime() }])
  const lost = await make()

  let lookedForMs = 0
  while (!waiting().includes(lost._id) && lookedForMs < 60_000) {
    nowMs += 600
    lookedForMs += 600
    await view.refresh()
  }
  t.ok(lookedForMs <= 6000, `it was found after ${lookedForMs} ms`)
  t.strictSame(waiting().toSorted(), [first._id, lost._id].toSorted())
})
