import t from 'tap'
import { createTailNotes, encodeWatch, tailWatchSubject } from '../src/tail-notes.ts'
import { encodeJson } from '../src/wire.ts'

const account = '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11'

t.test('a message that names nobody readable is passed over without a line in the log', (t) => {
  const published: string[] = []
  const warned: unknown[] = []
  let hear: (data: Uint8Array) => void = () => undefined
  const notes = createTailNotes({
    bus: {
      publish: (subject) => void published.push(subject),
      subscribe(subject, handle) {
        t.equal(subject, tailWatchSubject)
        hear = (data) => handle({ subject, data })
        return { unsubscribe: () => undefined }
      },
    },
    root: 'webhooks',
    logger: { warn: (...line: unknown[]) => void warned.push(line) },
  })
  const tell = () => notes.tell({ operatorId: account, environment: 'LIVE' }, 'events', () => ({}))
  const unreadable = [
    new TextEncoder().encode('{'),
    new Uint8Array([0xff]),
    encodeJson({ accounts: [account, '*'] }),
    encodeJson({ accounts: account }),
    encodeJson(null),
  ]
  for (const data of unreadable) hear(data)
  tell()
  t.strictSame(published, [], 'and nobody is followed by it')
  hear(encodeWatch([account]))
  tell()
  t.equal(published.length, 1)
  t.strictSame(warned, [])
  t.end()
})
