import t from 'tap'
import type { NewDelivery } from '../../src/storage/new-delivery.ts'
import {
  createNotifyWorkers,
  type Notification,
  type NotifyWorkers,
  readNotification,
} from '../../src/clients/notify-workers.ts'

const createdAt = new Date('2026-11-20T10:00:00.000Z')

const created = (
  webhookId: string,
  number: number,
  eventType: NewDelivery['eventType'] = 'transaction.bet',
) => ({
  _id: `dlv_${webhookId}_${number}`,
  operatorId: 'o',
  environment: 'SANDBOX' as const,
  webhookId,
  eventId: `evt_${number}`,
  eventType,
  lane: 'fresh' as const,
  createdAt,
})

function sentBy(act: (notify: NotifyWorkers) => void): Notification[] {
  const sent: Notification[] = []
  act(createNotifyWorkers({ publish: (_subject, data) => void sent.push(readNotification(data)) }))
  return sent
}

t.test('all new deliveries of an endpoint are named in one message', (t) => {
  const ids = Array.from({ length: 300 }, (_, index) => `whe_${index}`)
  const fresh = [1, 2].flatMap((number) => ids.map((id) => created(id, number)))
  const messages = sentBy((notify) => notify(ids, fresh))
  t.strictSame(
    messages.map((message) => [message.ids.length, message.fresh.length]),
    [
      [0, 256],
      [0, 256],
      [0, 88],
    ],
  )
  t.strictSame(messages[0]?.fresh[0], {
    ...{ _id: 'dlv_whe_0_1', webhookId: 'whe_0', eventId: 'evt_1', eventType: 'transaction.bet' },
    createdAtMs: createdAt.getTime(),
  })
  const homes = messages.map((message) => new Set(message.fresh.map(({ webhookId }) => webhookId)))
  t.equal(
    homes.reduce((sum, { size }) => sum + size, 0),
    ids.length,
    'no endpoint is in two messages',
  )
  t.end()
})

t.test('an endpoint with many new deliveries, a test or unknown work is named alone', (t) => {
  const many = Array.from({ length: 33 }, (_, number) => created('whe_many', number))
  const fresh = [...many, created('whe_test', 1, 'webhook.test'), created('whe_one', 1)]
  const [message, ...others] = sentBy((notify) =>
    notify(['whe_many', 'whe_test', 'whe_none', 'whe_one'], fresh),
  )
  t.strictSame(others, [])
  t.strictSame(message?.ids, ['whe_many', 'whe_test', 'whe_none'])
  t.strictSame(
    message?.fresh.map(({ webhookId }) => webhookId),
    ['whe_one'],
  )
  t.strictSame(
    sentBy((notify) => notify([])),
    [],
  )
  t.throws(() => readNotification(new TextEncoder().encode('["whe_1"]')))
  t.end()
})
