import { randomUUID } from 'node:crypto'
import { type Lateness, latenessSubject } from '@pitboss/contracts/lateness'
import { waitFor } from '@pitboss/testing/wait-for'
import { Registry } from 'prom-client'
import t from 'tap'
import { hearLateness } from '../src/clients/hear-lateness.ts'
import { shareOfPlay } from '../src/rules/share-of-play.ts'
import { act, errorOf, type Rig, safeTile, startRig } from './fixtures/rounds-rig.ts'

function tell(rig: Rig, more: Partial<Lateness>): void {
  const lateness: Lateness = { by: 'worker-1', recording_ms: 0, accounts: [], ...more }
  rig.bus.publish(latenessSubject, Buffer.from(JSON.stringify(lateness)))
}

t.test('new play waits while deliveries are late, and goes on when nobody says so any more', async (t) => {
  const registry = new Registry()
  const rig = await startRig(t, { registry })
  const [mines, dice] = await Promise.all([rig.openSession({ game: 'mines' }), rig.openSession()])
  const open = await rig.play(mines, { bet: { mines: 3 } })
  const refused = async () => {
    const metric = await registry.getSingleMetric('pitboss_rounds_play_refused_total')?.get()
    return metric?.values.find(({ labels }) => labels.why === 'deliveries-late')?.value
  }
  const late = [{ account: rig.scope.operatorId, late_ms: 2500 }]

  const refusal = await waitFor(() => {
    tell(rig, { accounts: late })
    return errorOf(rig.play(dice))
  })
  t.match(refusal, { code: 'SERVICE_UNAVAILABLE', retryAfterS: 1, message: /catch up/ })
  t.equal(await refused(), 1)
  tell(rig, { accounts: late })
  const turn = await act(rig, mines, open.round_id, await safeTile(rig, open.round_id))
  t.equal(turn.status, 'OPEN', 'the turns of an open round go on')

  // Nothing is told from here on, as when no webhooks runs.
  await waitFor(() => rig.play(dice).catch(() => null))

  tell(rig, { accounts: [{ account: randomUUID(), late_ms: 60_000 }] })
  await rig.play(dice)
  t.pass('an account is not held up by the deliveries of another')
  await waitFor(() => {
    tell(rig, { recording_ms: 2500 })
    return errorOf(rig.play(dice))
  })
  t.pass('events that are not recorded in time hold up all accounts')
})

t.test('a lateness stands for a second, of several replicas the worst', (t) => {
  let nowMs = 0
  let hear: (message: { subject: string; data: Uint8Array }) => void = () => undefined
  const subscribe = (_subject: string, fn: typeof hear) => {
    hear = fn
    return { unsubscribe: () => undefined }
  }
  const lateness = hearLateness({ subscribe }, () => nowMs)
  const said = (by: string, recording_ms: number, late_ms: number) => {
    const message = { by, recording_ms, accounts: [{ account: 'a', late_ms }] }
    hear({ subject: latenessSubject, data: Buffer.from(JSON.stringify(message)) })
  }
  t.equal(lateness.of('a'), 0)
  said('one', 0, 1500)
  said('two', 300, 900)
  t.equal(lateness.of('a'), 1800)
  t.equal(lateness.of('b'), 300)
  nowMs = 900
  said('two', 0, 700)
  t.equal(lateness.of('a'), 1500)
  nowMs = 1100
  t.equal(lateness.of('a'), 700)
  nowMs = 2000
  t.equal(lateness.of('a'), 0)
  t.end()
})

t.test('play yields evenly from one second to one and a half', (t) => {
  t.strictSame([0, 999, 1000, 1125, 1375, 1500, 9000].map(shareOfPlay), [1, 1, 1, 0.75, 0.25, 0, 0])
  t.end()
})
