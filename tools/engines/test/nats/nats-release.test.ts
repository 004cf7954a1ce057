import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { noProgress } from '../../src/fetch/progress.ts'
import { download } from '../../src/nats/fetch-nats.ts'

await t.test('a download is taken only when it is the very file that is known', async (t) => {
  const content = Buffer.alloc(100_000, 7)
  const server = createServer((request, response) => {
    if (request.url === '/gone') response.writeHead(404).end()
    else response.end(content)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const address = server.address()
  const base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const file = join(t.testdir({}), 'file')
  const sha256 = createHash('sha256').update(content).digest('hex')
  await download(`${base}/x`, file, sha256, noProgress)
  t.ok(readFileSync(file).equals(content))
  await t.rejects(download(`${base}/x`, file, '0'.repeat(64), noProgress), {
    name: 'EngineError',
    message: /SHA-256 is/,
  })
  await t.rejects(download(`${base}/gone`, file, sha256, noProgress), { message: /status 404/ })
})

await t.test('a host that is not there is named at once', async (t) => {
  const file = join(t.testdir({}), 'file')
  await t.rejects(download('http://127.0.0.1:9/x', file, '', noProgress), {
    name: 'EngineError',
    message: /127.0.0.1:9/,
  })
  t.notOk(existsSync(file))
})
