import { jetstreamManager } from '@nats-io/jetstream'
import { waitFor } from '@pitboss/testing/wait-for'
import { Registry } from 'prom-client'
import t from 'tap'
import { act, cashOut, errorOf, safeTile, startRig } from './fixtures/rounds-rig.ts'

t.test('new play is refused while no event is recorded, and what is open goes on', async (t) => {
  const registry = new Registry()
  let stopped = false
  const rig = await startRig(t, { registry, isRecordingStopped: () => stopped })
  const [mines, dice] = await Promise.all([rig.openSession({ game: 'mines' }), rig.openSession()])
  const open = await rig.play(mines, { bet: { mines: 3 } })
  stopped = true
  t.match(await errorOf(rig.play(dice)), {
    code: 'SERVICE_UNAVAILABLE',
    retryAfterS: 5,
    message: /recorded again/,
  })
  await act(rig, mines, open.round_id, await safeTile(rig, open.round_id))
  t.match(await cashOut(rig, mines, open.round_id), { status: 'SETTLED' })
  const refused = await registry.getSingleMetric('pitboss_rounds_play_refused_total')?.get()
  t.ok(refused?.values.some(({ labels, value }) => labels.why === 'recording-stopped' && value === 1))
  stopped = false
  t.match(await rig.play(dice), { status: /SETTL/ })
})

t.test('the consumer of late movements is made again when the broker has lost it', async (t) => {
  let ms = 0
  const rig = await startRig(t, { replicas: 2, nowMs: () => ms })
  const manager = await jetstreamManager(rig.bus.nc)
  await manager.consumers.delete('EVENTS', 'rounds-movements')
  const made = await waitFor(async () => {
    ms += 1000
    return manager.consumers.info('EVENTS', 'rounds-movements').catch(() => null)
  })
  t.match(made.config, { filter_subject: 'events.v1.*.*.transaction.>', ack_policy: 'explicit' })
})
