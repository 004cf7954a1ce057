import t from 'tap'
import type { NewDelivery } from '../../src/storage/delivery-queue.ts'
import { createWake, readWake, type WakeMessage } from '../../src/clients/wake.ts'

const createdAt = new Date('2026-11-20T10:00:00.000Z')

const made = (
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

function sentBy(act: (wake: ReturnType<typeof createWake>) => void): WakeMessage[] {
  const sent: WakeMessage[] = []
  act(createWake({ publish: (_subject, data) => void sent.push(readWake(data)) }))
  return sent
}

t.test('what was made for an endpoint goes along, all of it in one message', (t) => {
  const ids = Array.from({ length: 300 }, (_, index) => `whe_${index}`)
  const fresh = [1, 2].flatMap((number) => ids.map((id) => made(id, number)))
  const messages = sentBy((wake) => wake(ids, fresh))
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

t.test('an endpoint that gets many, gets a test, or whose work is not known is named alone', (t) => {
  const many = Array.from({ length: 33 }, (_, number) => made('whe_many', number))
  const fresh = [...many, made('whe_test', 1, 'webhook.test'), made('whe_one', 1)]
  const [message, ...others] = sentBy((wake) => wake(['whe_many', 'whe_test', 'whe_none', 'whe_one'], fresh))
  t.strictSame(others, [])
  t.strictSame(message?.ids, ['whe_many', 'whe_test', 'whe_none'])
  t.strictSame(
    message?.fresh.map(({ webhookId }) => webhookId),
    ['whe_one'],
  )
  t.strictSame(
    sentBy((wake) => wake([])),
    [],
  )
  t.throws(() => readWake(new TextEncoder().encode('["whe_1"]')))
  t.end()
})
