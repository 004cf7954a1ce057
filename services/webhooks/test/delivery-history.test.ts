import {
  dashboardGetDelivery,
  dashboardListDeliveries,
  dashboardRetryDelivery,
} from '@pitboss/contracts/endpoints/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { checkFigures } from './fixtures/ledger.ts'
import { startReceiver, status } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'

type Query = Partial<Parameters<Rig['deliveries']>[0]> & {
  readonly event_type?: 'transaction.win' | 'transaction.failed'
  readonly from?: string
  readonly to?: string
}

/** All pages of a list, `limit` a page. */
async function listAll(rig: Rig, query: Query, limit = 7) {
  const found = []
  let cursor: string | undefined
  do {
    const { body } = await rig.call(dashboardListDeliveries, {
      ...{ caller: rig.caller(), params: {}, body: undefined },
      query: { ...query, limit, ...(cursor === undefined ? {} : { cursor }) },
    })
    found.push(...body.data)
    cursor = body.next_cursor ?? undefined
  } while (cursor !== undefined)
  return found
}

const request = (rig: Rig, id: string) => ({
  ...{ caller: rig.caller(), params: { delivery_id: id }, query: {}, body: undefined },
})
const show = async (rig: Rig, id: string) => (await rig.call(dashboardGetDelivery, request(rig, id))).body

t.test('lists show a delivery that was accepted at once as they show every other', async (t) => {
  const rig = await startRig(t)
  const accepting = await startReceiver(t, status(200, {}, 'thank you'))
  // Each is refused once: ten failures open the breaker.
  const refusing = await startReceiver(t, status(503, { 'retry-after': '3600' }))
  const good = await rig.createEndpoint(accepting.url)
  const bad = await rig.createEndpoint(refusing.url, ['transaction.win'])
  const events = []
  for (let count = 0; count < 30; count++) {
    const type = count === 5 ? 'transaction.failed' : count % 3 === 0 ? 'transaction.win' : 'round.started'
    events.push(await rig.publish({ type }))
  }
  await waitFor(async () => (await rig.countOf('DELIVERED')) === 30)
  await waitFor(
    async () => (await rig.allDeliveries()).filter(({ attempts }) => attempts.length > 0).length === 40,
  )

  const all = await listAll(rig, {})
  t.equal(new Set(all.map(({ delivery_id: id }) => id)).size, 40, 'each once')
  const order = all.map(({ created_at: at, delivery_id: id }) => `${at} ${id}`)
  t.strictSame(order, order.toSorted().toReversed(), 'newest first')
  t.equal((await listAll(rig, { status: 'DELIVERED' })).length, 30)
  t.equal((await listAll(rig, { status: 'PENDING' })).length, 10)
  t.equal((await listAll(rig, { webhook_id: good.webhook_id })).length, 30)
  t.equal((await listAll(rig, { webhook_id: bad.webhook_id })).length, 10)
  t.equal((await listAll(rig, { event_type: 'transaction.win' })).length, 20)
  t.equal((await listAll(rig, { event_type: 'transaction.failed' })).length, 1)
  const [first] = events
  const ofFirst = await listAll(rig, { event_id: first?.id ?? '' })
  t.strictSame(new Set(ofFirst.map(({ webhook_id: id }) => id)), new Set([good.webhook_id, bad.webhook_id]))
  const middle = all[19]?.created_at ?? ''
  const until = await listAll(rig, { from: '2020-01-01T00:00:00.000Z', to: middle })
  t.strictSame(
    until.map(({ delivery_id: id }) => id),
    all.filter(({ created_at: at }) => at <= middle).map(({ delivery_id: id }) => id),
  )

  const [one] = await listAll(rig, { webhook_id: good.webhook_id })
  const shown = await show(rig, one?.delivery_id ?? '')
  t.match(shown, { ...one, waiting_for: null, ladder: [] })
  t.match(shown.attempts, [
    { attempt: 1, http_status: 200, error: null, response_excerpt: 'thank you', hint: null, location: null },
  ])
  t.equal(shown.attempts[0]?.url, accepting.url)
  t.type(shown.attempts[0]?.timings?.total_ms, 'number')
  t.type(shown.attempts[0]?.duration_ms, 'number')
  t.ok(Date.parse(shown.delivered_at ?? '') >= Date.parse(shown.attempts[0]?.sent_at ?? ''))

  const again = await rig.call(dashboardRetryDelivery, request(rig, shown.delivery_id))
  t.match(again.body, { status: 'PENDING', attempt_count: 1 })
  const twice = await waitFor(async () => {
    const now = await show(rig, shown.delivery_id)
    return now.attempt_count === 2 && now.status === 'DELIVERED' ? now : null
  })
  t.strictSame(twice.attempts[0], shown.attempts[0], 'its first attempt is as it was')
  const after = await listAll(rig, {})
  t.equal(after.length, 40, 'it is in the list once')
  await checkFigures(t, rig, await rig.allDeliveries())
})
