import { Binary, Long } from 'mongodb'
import t from 'tap'
import { pack, packText, unpack, unpackText } from '../src/packed.ts'

// Written by the first build that packed: what is stored is read by every later one.
const firstBuild =
  'eLtk2JK9280AbkxGQBoIAQyQzj8btNFmCGlOWuDo40M69Dh747DWhpqu+iJGSA3tDbHHGdqAYIOWT4bQIgM6OYyrt3R4JTC2H7VNUgI7HQBIUSib'
const fields = {
  f: [{ of: 'bet_1', set: { status: 'SUCCESS', call: null, balanceAfter: '999.00' } }],
  at: new Date('2026-11-29T12:00:00.000Z'),
  ev: [{ id: 'evt_1', body: '{"type":"transaction.bet","é":"→"}' }],
}

t.test('what is packed is read as the driver would read it', async (t) => {
  t.strictSame(unpack(pack(fields)), fields)
  t.strictSame(unpack(pack({ n: 3, seq: Long.fromNumber(3), absent: undefined })), { n: 3, seq: 3n })
  t.equal(unpackText(packText('{"é":"→"}')), '{"é":"→"}')
})

t.test('what the first build has packed is read', async (t) => {
  t.strictSame(unpack(new Binary(Buffer.from(firstBuild, 'base64'))), fields)
})

t.test('damaged bytes are refused', async (t) => {
  const whole = pack(fields).value()
  for (const index of whole.keys()) {
    const damaged = Uint8Array.from(whole)
    damaged[index] = (damaged[index] ?? 0) ^ 1
    t.throws(() => unpack(new Binary(damaged)), `byte ${index}`)
  }
  t.throws(() => unpack(new Binary(whole.slice(0, -1))))
})
