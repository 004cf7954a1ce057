import { connect } from 'node:net'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ask, askRaw } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'

const world = await startWorld(t)
const port = Number(new URL(world.url).port)
const head = `host: x\r\nauthorization: Bearer ${await world.operatorToken()}\r\n`
const body = JSON.stringify({ player_id: 'p', game: 'dice', currency: 'EUR' })
const session = `POST /v1/sessions HTTP/1.1\r\n${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`

await t.test('nothing behind a request that is refused for its framing is done', async (t) => {
  const refused = [
    'GET /healthz HTTP/1.1\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n',
    'POST /v1/public/verify HTTP/1.0\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: a-miracle\r\n\r\n',
  ]
  const before = world.forwarded.length
  for (const request of refused) {
    const answer = await askRaw(port, request + session)
    t.match(answer, /^HTTP\/1.1 422 /)
    t.equal(answer.match(/HTTP\/1.1 \d{3} /g)?.length, 1, request)
  }
  t.equal((await ask(`${world.url}/healthz`)).status, 200)
  t.equal(world.forwarded.length, before, 'no session was made')
  t.match(
    await askRaw(port, `${session.replace('host: x', 'host: x\r\nconnection: close')}`),
    /^HTTP\/1.1 201 /,
  )
  t.equal(world.forwarded.length, before + 1)
})

await t.test('rubbish behind a request does not take the place of its answer', async (t) => {
  const held = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  world.answers.set('rounds.v1.session.list', async () => {
    asked.resolve()
    await held.promise
    return { status: 200, body: { data: [], next_cursor: null } }
  })
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET /v1/sessions HTTP/1.1\r\n${head}\r\n`)
  await asked.promise
  socket.write('rubbish\r\n\r\n')
  // The rubbish has been read once a later connection is served.
  await ask(`${world.url}/healthz`)
  held.resolve()
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  t.match(answer, /^HTTP\/1.1 200 /)
  t.match(answer, /"next_cursor":null/)
  t.notMatch(answer, /must be HTTP/)
  world.answers.delete('rounds.v1.session.list')
})

await t.test('a target with an authority is its path, and is logged as that', async (t) => {
  const request = (target: string) =>
    askRaw(port, `GET ${target} HTTP/1.1\r\n${head}connection: close\r\n\r\n`)
  t.match(await request('http://elsewhere.example/v1/games?limit=1'), /^HTTP\/1.1 (200|422) /)
  t.match(await request('http://elsewhere.example/v1/none'), /^HTTP\/1.1 404 /)
  await waitFor(() => world.directory.logRows.some(({ path }) => path.endsWith('/v1/games')))
  t.notOk(world.directory.logRows.some(({ path }) => path.includes('elsewhere')))
})
