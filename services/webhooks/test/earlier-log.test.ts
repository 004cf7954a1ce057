import { createHash } from 'node:crypto'
import { getEvent, getEventManifest, listEvents } from '@pitboss/contracts/endpoints/events'
import { createReplay } from '@pitboss/contracts/endpoints/webhooks'
import type { EventType } from '@pitboss/contracts/objects/event'
import { newId } from '@pitboss/runtime/new-id'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { readLogKey } from '../src/storage/log-keys.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'

const minuteMs = 60_000

/** Events as builds before `log` recorded them. */
async function recordAsEarlier(rig: Rig, types: readonly EventType[]) {
  const startMs = Date.now() - types.length * minuteMs
  const earlier = types.map((type, index) => {
    const id = newId('evt')
    const createdAt = new Date(startMs + index * minuteMs)
    const of = { environment: rig.scope.environment, operator_id: rig.scope.operatorId }
    const body = JSON.stringify({ id, type, created_at: createdAt.toISOString(), ...of, data: { n: index } })
    return { id, type, createdAt, body }
  })
  await rig.collections.events.insertMany(
    earlier.map(({ id, createdAt, ...event }, index) => ({
      ...{
        _id: id,
        ...rig.scope,
        seq: index + 1,
        createdAt,
        createdHighAt: createdAt,
        recordedAt: createdAt,
      },
      ...{ roundId: null, targets: [], ...event },
    })),
  )
  return earlier
}

t.test('the log of an earlier build goes on: cursors, manifest, ids and replays', async (t) => {
  const rig = await startRig(t, { start: false })
  const earlier = await recordAsEarlier(rig, [
    ...(['round.started', 'transaction.bet', 'round.completed'] as const),
    ...(['transaction.win', 'transaction.failed', 'round.started'] as const),
  ])
  await rig.startOne()
  const base = { caller: rig.caller(), params: {}, body: undefined }
  const list = async (query: { limit: number; cursor?: string; type?: EventType }) =>
    (await rig.call(listEvents, { ...base, query })).body
  const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id)

  const first = await list({ limit: 4 })
  t.strictSame(idsOf(first.data), idsOf(earlier.slice(0, 4)))
  const [again] = earlier
  await rig.publish({ ...again, createdAt: again?.createdAt ?? new Date() })
  const late = [await rig.publish(), await rig.publish({ type: 'transaction.failed' }), await rig.publish()]
  await waitFor(async () => (await rig.collections.log.countDocuments({})) === late.length)

  const all = [...earlier, ...late]
  const next = await list({ limit: 50, cursor: first.next_cursor })
  t.strictSame(
    idsOf(next.data),
    idsOf(all.slice(4)),
    'a cursor goes on; what was recorded is not recorded again',
  )
  const rare = await list({ limit: 50, type: 'transaction.failed' })
  t.strictSame(idsOf(rare.data), idsOf(all.filter(({ type }) => type === 'transaction.failed')))
  const numbers = await rig.collections.log.find().sort({ _id: 1 }).toArray()
  t.strictSame(
    numbers.map(({ _id }) => readLogKey(_id).seq),
    [7, 8, 9],
  )
  const found = await rig.call(getEvent, { ...base, params: { event_id: earlier[2]?.id ?? '' }, query: {} })
  t.equal(found.body.id, earlier[2]?.id)

  const window = {
    from: new Date(Date.now() - 60 * minuteMs).toISOString(),
    to: new Date(Date.now() + minuteMs).toISOString(),
  }
  const { hours } = (await rig.call(getEventManifest, { ...base, query: window })).body
  t.equal(
    hours.reduce((sum, { count }) => sum + count, 0),
    all.length,
  )
  if (hours.length === 1) {
    const hash = createHash('sha256').update(all.map(({ id }) => `${id}\n`).join(''))
    t.equal(hours[0]?.ids_sha256, hash.digest('hex'), 'in the order of recording')
  }

  const receiver = await startReceiver(t)
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const order = { ...window, only: 'missing', dry_run: false } as const
  await rig.call(createReplay, { ...base, params: { webhook_id }, query: {}, body: order })
  await waitFor(() => receiver.received.length === all.length)
  const bodies = receiver.received.map(({ body }) => body)
  t.strictSame(bodies.toSorted(), all.map(({ body }) => body).toSorted(), 'byte for byte')
})
