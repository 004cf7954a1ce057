import { randomUUID } from 'node:crypto'
import { type Lateness, latenessSubject } from '@pitboss/contracts/lateness'
import { waitFor } from '@pitboss/testing/wait-for'
import { Registry } from 'prom-client'
import t from 'tap'
import { listenToDeliveryLag } from '../src/clients/delivery-lag-listener.ts'
import { shareOfPlay, usualYield } from '../src/actions/admit-play.ts'
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
  const late = [{ account: rig.scope.operatorId, late_ms: 60_000 }]

  const refusal = await waitFor(
    () => {
      tell(rig, { accounts: late })
      return errorOf(rig.play(dice))
    },
    { everyMs: 250, what: 'the lateness to have lasted' },
  )
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
  await waitFor(
    () => {
      tell(rig, { recording_ms: 60_000 })
      return errorOf(rig.play(dice))
    },
    { everyMs: 250, what: 'that lateness, too' },
  )
  t.pass('events that are not recorded in time hold up all accounts')
})

t.test('a lateness stands for a second, of several replicas the worst', (t) => {
  let nowMs = 0
  let hear: (message: { subject: string; data: Uint8Array }) => void = () => undefined
  const subscribe = (_subject: string, fn: typeof hear) => {
    hear = fn
    return { unsubscribe: () => undefined }
  }
  const lateness = listenToDeliveryLag({ subscribe }, { fromMs: 1000, nowMs: () => nowMs })
  const said = (by: string, recording_ms: number, late_ms: number) => {
    const message = { by, recording_ms, accounts: [{ account: 'a', late_ms }] }
    hear({ subject: latenessSubject, data: Buffer.from(JSON.stringify(message)) })
  }
  /** Both say it again, several times a second. */
  const go = (toMs: number, recording_ms: number, ones: number, twos: number) => {
    for (; nowMs < toMs; nowMs += 200) {
      said('one', 0, ones)
      said('two', recording_ms, twos)
    }
  }
  t.equal(lateness.of('a'), 0)
  go(4800, 300, 1500, 900)
  t.equal(lateness.of('a'), 0, 'it has not lasted')
  go(5200, 300, 1500, 900)
  t.equal(lateness.of('a'), 1800, 'the worst, and what recording adds')
  t.equal(lateness.of('b'), 0, 'recording alone is not late')
  go(5400, 0, 900, 700)
  t.equal(lateness.of('a'), 0, 'it has caught up')
  go(9000, 0, 1500, 700)
  t.equal(lateness.of('a'), 0, 'and its time begins anew')
  go(20_000, 5000, 0, 0)
  t.equal(lateness.of('b'), 5000, 'late recording is of all accounts')
  nowMs += 1100
  t.equal(lateness.of('b'), 0, 'what nobody says any more is over')
  t.end()
})

t.test('play yields evenly from ten seconds to thirty', (t) => {
  const share = (seconds: number) => shareOfPlay(seconds * 1000, usualYield)
  t.strictSame([0, 9.9, 10, 15, 25, 30, 90].map(share), [1, 1, 1, 0.75, 0.25, 0, 0])
  t.equal(shareOfPlay(10_000, { fromMs: 10_000, allMs: 10_000 }), 0, 'a single bound is one')
  t.equal(shareOfPlay(9000, { fromMs: 10_000, allMs: 10_000 }), 1)
  t.end()
})
