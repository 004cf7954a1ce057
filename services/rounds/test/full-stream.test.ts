import { randomUUID } from 'node:crypto'
import { jetstream } from '@nats-io/jetstream'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { eventSubject } from '@pitboss/bus/topology'
import { type EventEnvelope, eventEnvelopeSchema } from '@pitboss/contracts/objects/event'
import { placeTransaction } from '@pitboss/contracts/endpoints/rounds'
import { newId } from '@pitboss/runtime/new-id'
import { waitFor } from '@pitboss/testing/wait-for'
import { Registry } from 'prom-client'
import t from 'tap'
import { act, cashOut, errorOf, type Rig, safeTile, startRig } from './fixtures/rounds-rig.ts'

const kilobyte = 1024

/** Fills the stream until it refuses a small event; what it holds then is not of rounds. */
async function fill(rig: Rig): Promise<void> {
  const subject = eventSubject({ ...rig.scope, operatorId: randomUUID() }, 'transaction.bet')
  for (const size of [16 * kilobyte, kilobyte, 16]) {
    const publish = () => rig.bus.publishEvent({ id: newId('evt'), subject, payload: Buffer.alloc(size) })
    for (;;) if (!(await publish().then(Boolean, () => false))) break
  }
}

const bound = (rig: Rig, kilobytes: number) =>
  applyTopology(rig.bus.nc, { replicas: 1, events: { maxBytes: kilobytes * kilobyte, hours: 720 } })

async function place(rig: Rig, transactionId: string, movement: object) {
  const body = { transaction_id: transactionId, amount: '1.00', currency: 'USD', ...movement }
  const request = { caller: rig.caller(), params: {}, query: {}, body }
  return rig.bus.call(placeTransaction.call, placeTransaction.call.request.parse(request))
}

t.test('a full stream refuses new play, settles what is owed, and loses no event', async (t) => {
  const registry = new Registry()
  const rig = await startRig(t, { registry })
  const [mines, dice, driven] = await Promise.all([
    rig.openSession({ game: 'mines' }),
    rig.openSession(),
    rig.openSession(),
  ])
  const open = await rig.play(mines, { bet: { mines: 3 } })
  const bet = { type: 'BET', session_id: driven.session_id }
  const placed = await place(rig, 'driven-1', bet)
  const roundId = placed.body.round_id
  await waitFor(async () => (await rig.events()).length >= 4)
  await bound(rig, 256)
  await fill(rig)

  await act(rig, mines, open.round_id, await safeTile(rig, open.round_id))
  t.match(await cashOut(rig, mines, open.round_id), { status: 'SETTLED' }, 'the turns of an open round go on')
  const refusal = await waitFor(async () => {
    const error = await errorOf(rig.play(dice))
    return error.message.includes('room') ? error : null
  })
  t.match(refusal, { code: 'SERVICE_UNAVAILABLE', retryAfterS: 5 })
  const further = place(rig, 'driven-2', { ...bet, round_id: roundId })
  t.match(await errorOf(further), { code: 'SERVICE_UNAVAILABLE' })
  const win = { type: 'WIN', round_id: roundId }
  t.match(await place(rig, 'driven-3', win), { status: 201 }, 'a win is settled')
  t.match(await place(rig, 'driven-1', bet), { status: 200 }, 'a repeat has its answer')
  const refused = await registry.getSingleMetric('pitboss_rounds_play_refused_total')?.get()
  t.ok(refused?.values.some(({ labels, value }) => labels.why === 'stream-full' && value >= 2))
  t.strictSame(await ends(rig), [], 'the ends of both rounds wait in their outboxes')

  await bound(rig, 4096)
  await waitFor(async () => (await rig.play(dice).catch(() => null)) !== null)
  await waitFor(async () => {
    const ended = (await ends(rig)).map(({ data }) => data.round_id)
    return ended.includes(open.round_id) && ended.includes(roundId)
  })
  const ids = (await ends(rig)).map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length, 'and each came once')
})

/** The ends of rounds that the stream has taken, oldest first. */
async function ends(rig: Rig): Promise<EventEnvelope[]> {
  const filter = { filter_subjects: eventSubject(rig.scope, 'round.completed') }
  const consumer = await jetstream(rig.bus.nc).consumers.get('EVENTS', filter)
  const { num_pending: waiting } = await consumer.info()
  const found: EventEnvelope[] = []
  if (waiting === 0) return found
  for await (const message of await consumer.fetch({ max_messages: waiting, expires: 2000 }))
    found.push(eventEnvelopeSchema.parse(message.json()))
  return found
}
