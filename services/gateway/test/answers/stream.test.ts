import { tailSubject, tailWatchSubject } from '@pitboss/bus/tail-notes'
import { waitFor } from '@pitboss/testing/wait-for'
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { matches } from '../../src/answers/stream.ts'
import { createTailPipe, recordFrame, recordsPerSecond } from '../../src/answers/tail-pipe.ts'
import { ask } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

t.test(
  'a reader who takes nothing is kept nothing, is told how many he missed, and is dropped',
  async (t) => {
    const pipe = createTailPipe()
    const record = 'x'.repeat(1000)
    for (let second = 0; second < 5; second++) {
      for (let at = 0; at < 2 * recordsPerSecond; at++) pipe.offer(recordFrame('events', record))
      pipe.tick()
    }
    t.ok(pipe.readable.readableLength < 80_000, `${pipe.readable.readableLength} characters wait`)
    const told = String(pipe.readable.read())
    const frames = told.split('\n\n').filter((frame) => frame.startsWith('event: events')).length
    await new Promise(setImmediate)
    pipe.tick()
    const sum = [
      ...(told + String(pipe.readable.read())).matchAll(/event: missed\ndata: {"count":(\d+)}/g),
    ].reduce((total, [, count]) => total + Number(count), 0)
    t.equal(frames + sum, 200, 'every record came or was counted')
    for (let at = 0; at < 100; at++) pipe.offer(recordFrame('events', record))
    for (let second = 0; second < 100 && !pipe.readable.destroyed; second++) {
      for (let at = 0; at < recordsPerSecond; at++) pipe.offer(recordFrame('events', record))
      pipe.tick()
    }
    t.ok(pipe.readable.destroyed)
  },
)

t.test('a record comes when it has every field that the query names', (t) => {
  const event = { id: 'evt_1', type: 'round.started', data: { player_id: 'ann', round_id: 'rnd_1' } }
  t.ok(matches(event, {}))
  t.ok(matches(event, { type: 'round.started', player_id: 'ann' }))
  t.notOk(matches(event, { player_id: 'ben' }))
  t.notOk(matches(event, { webhook_id: 'whe_1' }), 'a record without the field does not come')
  t.ok(matches({ path: '/v1/rounds/1', status: 404 }, { path: '/v1/rounds', status: '404' }))
  t.end()
})

t.test('tails', async (t) => {
  const world = await startWorld(t, { PITBOSS_LIMIT_PERSON_TAILS: '3' }, { gateways: 2 })
  const [first, second] = world.gateways.map(({ url }) => url)
  const follow = async (t: Test, token: string, query = 'kinds=events', url = first ?? '') => {
    const stopping = new AbortController()
    const answer = await fetch(`${url}/v1/dashboard/stream?${query}`, {
      headers: { authorization: `Bearer ${token}` },
      signal: stopping.signal,
    })
    t.teardown(() => stopping.abort())
    let text = ''
    let ended = false
    const read = async () => {
      const decoder = new TextDecoder()
      for await (const chunk of answer.body ?? []) text += decoder.decode(chunk, { stream: true })
    }
    read().then(
      () => (ended = true),
      () => (ended = true),
    )
    return { answer, text: () => text, ended: () => ended, close: () => stopping.abort() }
  }
  /** Follows again until the gateway knows the person. */
  const followKnown = async (...asked: Parameters<typeof follow>) => {
    let tail = await follow(...asked)
    await waitFor(async () => {
      if (tail.answer.status === 200) return true
      tail = await follow(...asked)
      return false
    })
    return tail
  }
  /** Publishes the person's change, which ends the tail. */
  const endsSoon = async (t: Test, tail: Awaited<ReturnType<typeof follow>>, code: string) => {
    const atMs = performance.now()
    await world.bucket.put(`user.${ids.user}`, {})
    await waitFor(() => tail.ended())
    const tookMs = performance.now() - atMs
    t.ok(tail.text().includes(`event: end\ndata: {"code":"${code}"}`), tail.text())
    t.ok(tookMs <= 2000, `${Math.round(tookMs)} ms`)
  }
  const note = (
    record: unknown,
    { op = ids.operator as string, environment = 'SANDBOX', kind = 'events' } = {},
  ) =>
    world.services.publish(
      tailSubject('webhooks', op, `${environment}.${kind}`),
      new TextEncoder().encode(JSON.stringify(record)),
    )
  const other = randomUUID()
  world.directory.operators.add(other)

  await t.test(
    'a record reaches the tails of its account, environment and kind, at both gateways',
    async (t) => {
      const token = await world.userToken()
      const tails = await Promise.all([
        follow(t, token),
        follow(t, token, 'kinds=deliveries,events&player_id=ann', second),
        follow(t, token, 'kinds=events&environment=LIVE'),
      ])
      for (const { answer } of tails)
        t.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
      await waitFor(() => tails.every(({ text }) => text().includes(': open')))
      note({ id: 'foreign' }, { op: other })
      note({ id: 'foreign-live' }, { op: other, environment: 'LIVE' })
      note({ id: 'movement', data: { player_id: 'ann' } }, { kind: 'movements' })
      note({ id: 'anns', data: { player_id: 'ann' } })
      note({ id: 'bens', data: { player_id: 'ben' } })
      note({ id: 'live', data: { player_id: 'ann' } }, { environment: 'LIVE' })
      note({ id: 'last', data: { player_id: 'ann' } })
      note({ id: 'last-live' }, { environment: 'LIVE' })
      await waitFor(() => tails.every(({ text }) => text().includes('last')))
      const idsIn = (text: string) => [...text.matchAll(/"id":"([a-z-]+)"/g)].map(([, id]) => id)
      t.strictSame(
        tails.map(({ text }) => idsIn(text())),
        [
          ['anns', 'bens', 'last'],
          ['anns', 'last'],
          ['live', 'last-live'],
        ],
      )
      for (const tail of tails) tail.close()
    },
  )

  await t.test('a person has so many tails and no more, and a closed one gives its place back', async (t) => {
    const token = await world.userToken()
    const tails = [await follow(t, token), await follow(t, token), await follow(t, token)]
    const more = () => ask(`${first}/v1/dashboard/stream?kinds=events`, { token, method: 'HEAD' })
    const refused = await follow(t, token)
    t.equal(refused.answer.status, 503)
    tails[0]?.close()
    await waitFor(async () => (await follow(t, token)).answer.status === 200)
    t.equal((await more()).status, 200, 'HEAD opens none')
    for (const tail of tails) tail.close()
  })

  await t.test(
    'a tail of requests ends with the role that may read them, one of events does not',
    async (t) => {
      const token = await world.userToken()
      const requests = await followKnown(t, token, 'kinds=events,requests')
      const events = await follow(t, token, 'kinds=events')
      world.directory.users.set(ids.user, 'VIEWER')
      await endsSoon(t, requests, 'FORBIDDEN')
      note({ id: 'still-told' })
      await waitFor(() => events.text().includes('still-told'))
      events.close()
      world.directory.users.set(ids.user, 'OWNER')
      await world.bucket.put(`user.${ids.user}`, {})
    },
  )

  await t.test('requests are for builders', async (t) => {
    world.directory.users.set(ids.user, 'VIEWER')
    await world.bucket.put(`user.${ids.user}`, {})
    const token = await world.userToken()
    await waitFor(async () => (await follow(t, token, 'kinds=requests')).answer.status === 403)
    world.directory.users.set(ids.user, 'OWNER')
    await world.bucket.put(`user.${ids.user}`, {})
  })

  await t.test(
    'a tail tells which account it follows, without a token, and ends with its person',
    async (t) => {
      const token = await world.userToken()
      const watches: string[] = []
      const heard = world.services.subscribe(tailWatchSubject, ({ data }) => {
        watches.push(new TextDecoder().decode(data))
      })
      t.teardown(() => heard.unsubscribe())
      const tail = await followKnown(t, token, 'kinds=events', second)
      await waitFor(() => watches.some((watch) => watch.includes(ids.operator)))
      t.notMatch(watches.join(), token)
      world.directory.users.delete(ids.user)
      await endsSoon(t, tail, 'INVALID_CREDENTIALS')
    },
  )
})
