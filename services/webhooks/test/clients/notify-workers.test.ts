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

t.test('every endpoint and every end of a log is in one message, of which none grows without bound', (t) => {
  const ids = Array.from({ length: 300 }, (_, index) => `whe_${index}`)
  const ends = Array.from({ length: 10 }, (_, index) => ({
    ...{ operatorId: `operator ${index}`, environment: 'SANDBOX' as const, seq: index + 1 },
  }))
  const messages = sentBy((notify) => notify(ids, ends))
  t.strictSame(
    messages.map((message) => [message.ids.length, message.ends.length]),
    [
      [256, 10],
      [44, 0],
    ],
  )
  t.strictSame(
    messages.flatMap((message) => message.ids),
    ids,
  )
  t.strictSame(messages[0]?.ends, ends)
  t.strictSame(
    sentBy((notify) => notify([])),
    [],
  )
  t.throws(() => readNotification(new TextEncoder().encode('["whe_1"]')))
  t.end()
})
