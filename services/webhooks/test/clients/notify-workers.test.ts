import t from 'tap'
import { type Notification, notifyWorkers, readNotification } from '../../src/clients/notify-workers.ts'

function sentFor(notification: Partial<Notification>): Notification[] {
  const sent: Notification[] = []
  notifyWorkers(
    { bus: { publish: (_subject, data) => void sent.push(readNotification(data)) } },
    notification,
  )
  return sent
}

t.test('endpoints and ends of logs are in one message, and nothing is sent for nothing', (t) => {
  const ends = Array.from({ length: 500 }, (_, index) => ({
    ...{ operatorId: `operator ${index}`, environment: 'SANDBOX' as const, seq: index + 1 },
  }))
  const messages = sentFor({ ids: ['whe_1', 'whe_2'], ends })
  t.strictSame(messages, [{ ids: ['whe_1', 'whe_2'], ends, leaving: [] }])
  t.strictSame(sentFor({ ids: [] }), [])
  t.throws(() => readNotification(new TextEncoder().encode('["whe_1"]')))
  t.end()
})
