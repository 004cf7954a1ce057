import t from 'tap'
import { type BreakerNote, gossipBreakers } from '../src/clients/breakers.ts'

/** Two replicas on a bus that delivers at once, to the sender as well, and a timer that the test ends. */
function replicas() {
  const hearers: ((message: { subject: string; data: Uint8Array }) => void)[] = []
  const sent: string[] = []
  const waiting = new Set<() => void>()
  const bus = {
    publish(subject: string, data: Uint8Array) {
      sent.push(new TextDecoder().decode(data))
      for (const hear of hearers) hear({ subject, data })
    },
    subscribe(_subject: string, fn: (message: { subject: string; data: Uint8Array }) => void) {
      hearers.push(fn)
      return { unsubscribe: () => undefined }
    },
  }
  const later = (fn: () => void) => {
    waiting.add(fn)
    return () => waiting.delete(fn)
  }
  const [a, b] = ['a', 'b'].map((replicaId) => gossipBreakers({ bus, replicaId, later }))
  if (a === undefined || b === undefined) throw new Error('there are two')
  const heard: BreakerNote[] = []
  a.listen(() => t.fail('a replica hears nothing of its own'))
  b.listen((note) => heard.push(note))
  const pass = () => {
    for (const fn of [...waiting]) {
      waiting.delete(fn)
      fn()
    }
  }
  return { a, heard, sent, pass }
}

const answered = (wallet: string): BreakerNote => ({ wallet, news: 'answered' })
const unknown = (wallet: string): BreakerNote => ({ wallet, news: 'unknown' })

await t.test('the notes of 50 ms are one message, and each counts', async (t) => {
  const { a, heard, sent, pass } = replicas()
  for (let call = 0; call < 25; call++) a.notify(answered('x'))
  a.notify(answered('y'))
  t.strictSame([sent.length, heard.length], [0, 0])
  pass()
  t.equal(sent.length, 1)
  t.equal(heard.filter(({ wallet }) => wallet === 'x').length, 25)
  t.equal(heard.filter(({ wallet }) => wallet === 'y').length, 1)
  pass()
  t.equal(sent.length, 1, 'nothing is sent twice')
})

await t.test('the order of the notes about a wallet is kept', async (t) => {
  const { a, heard, pass } = replicas()
  const order = [unknown('x'), unknown('x'), answered('x'), unknown('x')]
  for (const note of order) {
    a.notify(note)
    a.notify(answered('y'))
  }
  pass()
  t.strictSame(
    heard.filter(({ wallet }) => wallet === 'x'),
    order,
  )
})

await t.test('a probe is told at once, behind what was gathered', async (t) => {
  const { a, heard, sent, pass } = replicas()
  const probe: BreakerNote = { wallet: 'x', news: 'probed' }
  a.notify(unknown('x'))
  a.notify(probe)
  t.strictSame(heard, [unknown('x'), probe])
  pass()
  t.equal(sent.length, 1)
})

await t.test('what is gathered at the end is sent', async (t) => {
  const { a, heard, sent, pass } = replicas()
  a.notify(unknown('x'))
  a.stop()
  t.strictSame(heard, [unknown('x')])
  pass()
  t.equal(sent.length, 1)
})
