import { once } from 'node:events'
import { handler, serveCalls } from '@pitboss/bus/serve-calls'
import { signStopRecord } from '@pitboss/contracts/calls/auth'
import { liftStop, listStops, stopPlayer } from '@pitboss/contracts/endpoints/players'
import type { PlayerStop } from '@pitboss/contracts/objects/player-stop'
import { stopRecordType } from '@pitboss/contracts/token-claims'
import { openRecord } from '@pitboss/testing/open-record'
import { newTestKey, signToken } from '@pitboss/testing/sign-token'
import { waitFor } from '@pitboss/testing/wait-for'
import { pino } from 'pino'
import t from 'tap'
import type { StopDocument } from '../src/wings/protection/storage/stops-store.ts'
import { type Rig, startRig } from './fixtures/rounds-rig.ts'
import { spawnService } from './fixtures/spawn-service.ts'

const player_id = 'stopped'
const lateMs = 60_000
const answered = { timeoutMs: 60_000, everyMs: 100 }
const stopsIn = (rig: Rig) => rig.storage.db.collection<StopDocument>('player_stops')
const about = (rig: Rig) => ({ caller: rig.caller(), params: { player_id }, query: {} })

async function stop(rig: Rig, until?: string) {
  const body = { reason: 'self-exclusion', ...(until === undefined ? {} : { until }) }
  return (await rig.bus.call(stopPlayer.call, { ...about(rig), body })).body
}
const lift = (rig: Rig) => rig.bus.call(liftStop.call, { ...about(rig), body: { reason: 'asked for' } })
async function newestOf(rig: Rig): Promise<PlayerStop | undefined> {
  const request = { ...about(rig), query: { limit: 50 }, body: undefined }
  return (await rig.bus.call(listStops.call, request)).body.data[0]
}

/** Moves the beginning of the stop back, so that no stake from before it can appear any more. */
async function letSecondsPass(rig: Rig): Promise<void> {
  await stopsIn(rig).updateOne(
    { playerId: player_id },
    { $set: { from: new Date(Date.now() - lateMs), dueAt: new Date(Date.now() - lateMs) } },
  )
}

type Suite = Parameters<typeof startRig>[0]

/** Signs in the place of auth, each time under another key id, so that a second signature would be seen. */
async function serveSigner(t: Suite, rig: Rig) {
  const key = await newTestKey('records')
  const kids: string[] = []
  const calls = await serveCalls({
    ...{ bus: rig.bus, service: 'auth', version: '1', logger: pino({ level: 'silent' }) },
    handlers: [
      handler(signStopRecord, async ({ text }) => {
        const kid = `records-${kids.length}`
        kids.push(kid)
        return { jws: await signToken(key, JSON.parse(text), { kid, typ: stopRecordType }) }
      }),
    ],
  })
  t.teardown(() => calls.stop())
  return {
    kids,
    open: (jws: string) =>
      openRecord(jws, stopRecordType, { keys: kids.map((kid) => ({ ...key.jwk, kid })) }),
  }
}

const recordOf = (rig: Rig) =>
  waitFor(async () => (await newestOf(rig))?.record ?? null, { ...answered, what: 'the record' })

for (const { at, isSigned } of [
  { at: 'rounds.stop-record-kept', isSigned: false },
  { at: 'rounds.stop-record-signed', isSigned: true },
])
  t.test(`a process that dies at ${at} leaves one record, of the bytes that were kept`, async (t) => {
    const rig = await startRig(t, { running: false })
    const signer = await serveSigner(t, rig)
    const child = spawnService(rig, at)
    const exited = once(child, 'exit')
    let roundId = ''
    try {
      const session = await waitFor(() => rig.openSession({ player_id }), {
        ...answered,
        what: 'the service answers',
      })
      roundId = (await rig.play(session)).round_id
      t.equal((await stop(rig)).record, null, 'there is none before the rounds have ended')
      await letSecondsPass(rig)
      t.equal((await exited)[1], 'SIGKILL', 'it died there')
    } finally {
      child.kill('SIGKILL')
    }
    t.equal(signer.kids.length, isSigned ? 1 : 0)
    const kept = await stopsIn(rig).findOne({ playerId: player_id })
    const text = kept?.record?.text ?? ''
    t.match(kept?.record, { text: /rounds_ended_at/, jws: null })

    await rig.start()
    await rig.start()
    const jws = await recordOf(rig)
    t.equal(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString(), text, 'the very bytes')
    const { stop_id, from, rounds_ended_at } = (await newestOf(rig)) ?? {}
    t.match(signer.open(jws), {
      ...{ stop_id, player_id, from, rounds_ended_at, environment: 'SANDBOX', until: null },
      ...{ operator_id: rig.scope.operatorId, last_bet: { round_id: roundId, stake: '1.00' } },
    })
    await waitFor(async () => (await stopsIn(rig).findOne({ unsigned: true })) === null)
    t.equal(await recordOf(rig), jws, 'another replica changes nothing')
  })

t.test('a record waits for auth, and what changes later does not change it', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const until = new Date(Date.now() + 3_600_000).toISOString()
  await stop(rig, until)
  await letSecondsPass(rig)
  await waitFor(async () => (await stopsIn(rig).findOne({ playerId: player_id }))?.record, answered)
  t.match(await newestOf(rig), { rounds_ended_at: /Z$/, record: null }, 'nobody signs')
  await stop(rig)
  t.equal((await newestOf(rig))?.until, null, 'the stop was made longer')

  const signer = await serveSigner(t, rig)
  const jws = await recordOf(rig)
  t.match(
    signer.open(jws),
    { until, lifted_at: null, last_bet: null },
    'as it stood when its rounds had ended',
  )
  await lift(rig)
  t.match(await newestOf(rig), { status: 'LIFTED', record: jws })
})

t.test('one changed letter of a record, or another type, is found', async (t) => {
  const rig = await startRig(t)
  const signer = await serveSigner(t, rig)
  await stop(rig)
  await letSecondsPass(rig)
  const jws = await recordOf(rig)
  t.ok(signer.open(jws))
  for (let place = 0; place < jws.length; place++) {
    const changed = `${jws.slice(0, place)}${jws[place] === 'A' ? 'B' : 'A'}${jws.slice(place + 1)}`
    if (signer.open(changed) !== null) t.fail(`a change at ${place} is not found`)
  }
  t.equal(openRecord(jws, 'pitboss-manifest+jws', { keys: [] }), null)
})
