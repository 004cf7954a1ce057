import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { opsLiftReturnAlarm, opsListReturnAlarms } from '@pitboss/contracts/calls/rounds'
import type { WithAudit } from '@pitboss/storage/audit-outbox'
import { serveAuditLog } from '@pitboss/testing/serve-audit-log'
import { runOutClaims } from '@pitboss/testing/run-out-claims'
import { waitFor } from '@pitboss/testing/wait-for'
import { pino } from 'pino'
import t from 'tap'
import type { StreamDocument } from '../src/wings/returns/storage/returns-store.ts'
import { type Rig, codeOf, startRig } from './fixtures/rounds-rig.ts'
import { spawnService } from './fixtures/spawn-service.ts'

/** Each case has its own database and account, and mostly waits. */
t.jobs = 4
const atOnce = { buffered: true }

const even = { bet: { target: '49.50', direction: 'under' } }
const order = { by: 'ann', reason: 'found and mended', dryRun: false }
const shape = 'chance 99/200'
const answered = { timeoutMs: 90_000 }

const streamsOf = (rig: Rig) => rig.storage.db.collection<StreamDocument>('return_streams')
const commonStream = (rig: Rig) => streamsOf(rig).findOne({ share: 'installation', shape })
const alarmsOf = async (rig: Rig) =>
  (await rig.bus.call(opsListReturnAlarms, { after: null, limit: 50 })).data
const statusOf = async (rig: Rig) =>
  (await rig.storage.db.collection<{ _id: string; status: string }>('game_status').findOne({ _id: 'dice' }))
    ?.status ?? 'AVAILABLE'

/** Entries of the status of games that the audit log has not been given yet. */
const entriesWaiting = async (rig: Rig) => {
  const statuses = await rig.storage.db.collection<WithAudit>('game_status').find({}).toArray()
  return statuses.flatMap(({ auditOutbox = [] }) => auditOutbox).length
}

/** Puts the evidence of the common stream one win short of an alarm: the next round of the bet is one. */
async function bringNearAlarm(rig: Rig): Promise<void> {
  const written = await streamsOf(rig).updateOne(
    { share: 'installation', shape },
    { $set: { log: 100 }, $inc: { version: 1 } },
  )
  if (written.matchedCount !== 1) throw new Error('there is no stream yet')
}

/** Plays until the process dies of the alarm that follows. */
async function playToDeath(rig: Rig, child: ChildProcess): Promise<NodeJS.Signals | null> {
  const exited = once(child, 'exit')
  const session = await waitFor(() => rig.openSession(), { ...answered, what: 'the service answers' })
  await rig.play(session, even)
  await waitFor(async () => ((await commonStream(rig))?.counts ?? []).some((count) => count > 0), {
    what: 'the round to be counted',
  })
  await bringNearAlarm(rig)
  // it gets no answer, which takes the whole budget of the call
  void rig.play(session, even).catch(() => null)
  const [, signal] = await exited
  return signal
}

for (const { at, isKept, isDown } of [
  { at: 'rounds.return-alarm-found', isKept: false, isDown: false },
  { at: 'rounds.return-alarm-kept', isKept: true, isDown: false },
  { at: 'rounds.return-alarm-told', isKept: true, isDown: true },
])
  void t.test(
    `an alarm whose process dies at ${at} takes its game down once, and is told`,
    atOnce,
    async (t) => {
      const rig = await startRig(t, { running: false, returnsAlarm: 'take-down' })
      const log = await serveAuditLog(t, rig.bus, pino({ level: 'silent' }))
      const child = spawnService(rig, at)
      try {
        t.equal(await playToDeath(rig, child), 'SIGKILL', 'it died there')
      } finally {
        child.kill('SIGKILL')
      }
      t.ok((await commonStream(rig))?.alarmDueAt, 'the alarm waits to be told')
      const kept = await rig.storage.db.collection('return_alarms').countDocuments({ open: true })
      t.equal(Number(kept), isKept ? 1 : 0)
      t.equal(await statusOf(rig), isDown ? 'DOWN' : 'AVAILABLE')

      await runOutClaims(rig.storage.db)
      await rig.start()
      await rig.until(async () => (await commonStream(rig))?.alarmDueAt === null, {
        ...answered,
        what: 'the alarm to be told',
      })
      t.equal(await statusOf(rig), 'DOWN')
      t.match(await alarmsOf(rig), [
        { status: 'OPEN', rule: 'take-down', stream: { shape, operator_id: null } },
      ])
      t.equal((await alarmsOf(rig)).length, 1)
      t.equal(await codeOf(rig.openSession()), 'GAME_UNAVAILABLE')
      const acts = () => log.filter(({ act }) => act === 'game.set')
      await waitFor(() => acts().length > 0, { ...answered, what: 'the audit entry' })
      // Whatever take-down wrote an entry, it wrote before the alarm counted as told.
      await waitFor(async () => (await entriesWaiting(rig)) === 0, { ...answered, what: 'no entry to wait' })
      t.match(acts(), [{ actor: { id: 'return-watch' }, object: { id: 'dice' }, after: { status: 'DOWN' } }])
      t.equal(acts().length, 1, 'audited once')
    },
  )

for (const at of ['rounds.return-alarm-lifted', 'rounds.return-stream-restarted'])
  void t.test(`a lift whose process dies at ${at} is finished by its repeat`, atOnce, async (t) => {
    const rig = await startRig(t, { running: false, returnsAlarm: 'take-down' })
    const log = await serveAuditLog(t, rig.bus, pino({ level: 'silent' }))
    const stop = await rig.start()
    const session = await rig.openSession()
    await rig.play(session, even)
    await waitFor(async () => ((await commonStream(rig))?.counts ?? []).some((count) => count > 0), {
      what: 'the round to be counted',
    })
    await bringNearAlarm(rig)
    await rig.play(session, even)
    await waitFor(async () => (await statusOf(rig)) === 'DOWN', { what: 'the game to be down' })
    await waitFor(async () => (await commonStream(rig))?.alarmDueAt === null, {
      what: 'the alarm to be told',
    })
    const [alarm] = await alarmsOf(rig)
    const alarmId = alarm?.alarm_id ?? ''
    const before = await commonStream(rig)
    await stop()

    const child = spawnService(rig, at)
    const exited = once(child, 'exit')
    try {
      await waitFor(() => alarmsOf(rig).catch(() => null), { ...answered, what: 'the service answers' })
      void rig.bus.call(opsLiftReturnAlarm, { order, alarmId, keepDown: false }).catch(() => null)
      t.equal((await exited)[1], 'SIGKILL', 'it died there')
    } finally {
      child.kill('SIGKILL')
    }
    t.equal(await statusOf(rig), 'DOWN', 'a lift that did not end leaves the game down')
    const half = await commonStream(rig)
    t.equal(half?.generation, at === 'rounds.return-alarm-lifted' ? 1 : 2)

    await runOutClaims(rig.storage.db)
    await rig.start()
    t.match(await alarmsOf(rig), [{ status: 'LIFTED', lifted_by: 'ann', lift_reason: order.reason }])
    const repeat = () => rig.bus.call(opsLiftReturnAlarm, { order, alarmId, keepDown: false })
    t.match(await repeat(), { alarm: { status: 'LIFTED' }, brought_back: true })
    const after = await commonStream(rig)
    t.match(after, { generation: 2, log: 0, counts: [0, 0], alarmedAt: null, crossing: null })
    t.ok((after?.position ?? 0) > (before?.position ?? 0), 'with a part of the error budget of its own')
    t.equal(await statusOf(rig), 'AVAILABLE')
    t.match(await repeat(), { brought_back: false }, 'once more changes nothing')
    t.equal((await commonStream(rig))?.position, after?.position)
    t.equal((await rig.play(await rig.openSession(), even)).status, 'SETTLED')
    const acts = () => log.map(({ act, after: end }) => `${act} ${JSON.stringify(end)}`).toSorted()
    await waitFor(() => acts().length >= 3, { ...answered, what: 'the audit entries' })
    t.strictSame(acts(), [
      'game.set {"status":"AVAILABLE"}',
      'game.set {"status":"DOWN"}',
      'return-alarm.lift {"status":"LIFTED"}',
    ])
  })
