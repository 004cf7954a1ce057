import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { decodeBody } from '../src/decode-body.ts'

const text = '{"status":"OK","balance":"1.00"}'
const decoded = (body: Buffer, encoding: string | string[] | undefined, bytesMax = 1000) =>
  decodeBody(body, encoding, bytesMax)?.bytes.toString()

t.test('each encoding that the web knows is undone', async (t) => {
  t.equal(decoded(gzipSync(text), 'gzip'), text)
  t.equal(decoded(gzipSync(text), 'X-GZIP'), text)
  t.equal(decoded(deflateSync(text), 'deflate'), text)
  t.equal(decoded(deflateRawSync(text), 'deflate'), text)
  t.equal(decoded(brotliCompressSync(text), 'br'), text)
  t.equal(decoded(brotliCompressSync(gzipSync(text)), 'gzip, br'), text)
  t.equal(decoded(Buffer.from(text), undefined), text)
  t.equal(decoded(Buffer.from(text), 'identity'), text)
  t.equal(decoded(Buffer.from(text), 'klingon'), text)
})

t.test('no more is made than asked for, and a body without its end is read as far as it goes', async (t) => {
  t.same(decodeBody(gzipSync('x'.repeat(2000)), 'gzip', 1000), { bytes: Buffer.alloc(0), cutOff: true })
  t.same(decodeBody(brotliCompressSync('x'.repeat(2000)), 'br', 1000), {
    bytes: Buffer.alloc(0),
    cutOff: true,
  })
  const cut = gzipSync(text.repeat(20)).subarray(0, -12)
  t.match(decoded(cut, 'gzip'), /^\{"status":"OK"/)
  t.equal(decodeBody(Buffer.from('no gzip'), 'gzip', 1000), null)
})
