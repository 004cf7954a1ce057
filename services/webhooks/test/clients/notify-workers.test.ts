import t from 'tap'
import {
  createNotifyWorkers,
  type Notification,
  type NotifyWorkers,
  readNotification,
} from '../../src/clients/notify-workers.ts'

function sentBy(act: (notify: NotifyWorkers) => void): Notification[] {
  const sent: Notification[] = []
  act(createNotifyWorkers({ publish: (_subject, data) => void sent.push(readNotification(data)) }))
  return sent
}

t.test('endpoints and ends of logs are in one message, and nothing is sent for nothing', (t) => {
  const ends = Array.from({ length: 500 }, (_, index) => ({
    ...{ operatorId: `operator ${index}`, environment: 'SANDBOX' as const, seq: index + 1 },
  }))
  const messages = sentBy((notify) => notify(['whe_1', 'whe_2'], ends))
  t.strictSame(messages, [{ ids: ['whe_1', 'whe_2'], ends, leaving: [] }])
  t.strictSame(
    sentBy((notify) => notify([])),
    [],
  )
  t.throws(() => readNotification(new TextEncoder().encode('["whe_1"]')))
  t.end()
})
