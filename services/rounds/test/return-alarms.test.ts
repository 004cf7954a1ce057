import { allCounted } from './fixtures/all-counted.ts'
import {
  opsLiftReturnAlarm,
  opsListReturnAlarms,
  opsListReturns,
  opsSetGame,
} from '@pitboss/contracts/calls/rounds'
import { dashboardListReturns } from '@pitboss/contracts/endpoints/rounds'
import { dice } from '@pitboss/fairness/games/dice'
import type { Game } from '@pitboss/fairness/games/game'
import { waitFor } from '@pitboss/testing/wait-for'
import { Registry } from 'prom-client'
import t from 'tap'
import { registerAlarms } from '../src/wings/returns/wing.ts'
import { createReturnsStore } from '../src/wings/returns/storage/returns-store.ts'
import { createCatalogue } from '../src/rules/catalogue.ts'
import { codeOf, type Rig, startRig } from './fixtures/rounds-rig.ts'

/** Dice that no bet on low numbers ever loses. */
const loaded: Game = {
  ...dice,
  parseBet(value) {
    const parsed = dice.parseBet(value)
    if (!parsed.ok) return parsed
    const { wager } = parsed
    const roll = { index: 7, roll: '00.07' }
    return {
      ok: true,
      wager: {
        ...wager,
        play(input) {
          const played = wager.play(input)
          if (!played.over) return played
          const outcome = { ...played.outcome, ...{ roll: roll.roll, won: true } }
          return { ...played, won: true, multiplier: wager.leastWinMultiplier(input.rtp), outcome }
        },
      },
    }
  },
}
const catalogue = createCatalogue([loaded])
const even = { bet: { target: '49.50', direction: 'under' } }
const order = { by: 'tester', reason: 'found and mended', dryRun: false }
/** Wins of an even bet in a row that chance does not explain: more than enough for all streams. */
const rounds = 40

async function playUntil(rig: Rig, code: string): Promise<number> {
  const session = await rig.openSession()
  for (let round = 1; round <= rounds; round++) {
    const refused = await codeOf(rig.play(session, even)).catch(() => null)
    if (refused === code) return round
    if (refused !== null) throw new Error(`a round was refused: ${refused}`)
  }
  await waitFor(async () => (await codeOf(rig.openSession()).catch(() => null)) === code, { what: code })
  return rounds
}

const alarmsOf = async (rig: Rig) =>
  (await rig.bus.call(opsListReturnAlarms, { after: null, limit: 50 })).data

async function settled(rig: Rig): Promise<void> {
  const due = () => rig.storage.db.collection('return_streams').countDocuments({ alarmDueAt: { $ne: null } })
  await allCounted(rig.storage.db)
  await waitFor(async () => Number(await due()) === 0, { what: 'alarms to be told' })
}

t.test('a biased draw takes its game down everywhere, once for each alarm, until it is lifted', async (t) => {
  const rig = await startRig(t, { replicas: 2, catalogue, returnsAlarm: 'take-down' })
  const played = await playUntil(rig, 'GAME_UNAVAILABLE')
  t.ok(played > 5, 'not before chance is ruled out')
  await settled(rig)
  // The draws are ruled out before the bet: on a fast machine the game is down by then.
  while ((await alarmsOf(rig)).length < 4) {
    await rig.bus.call(opsSetGame, { order, slug: 'dice', status: 'AVAILABLE' })
    await playUntil(rig, 'GAME_UNAVAILABLE')
    await settled(rig)
  }
  const alarms = await alarmsOf(rig)
  const shapes = alarms.map(({ stream }) => `${stream.operator_id === null ? 'all' : 'own'} ${stream.shape}`)
  t.same(shapes.toSorted(), ['all chance 99/200', 'all draws', 'own chance 99/200', 'own draws'])
  for (const { status, rule, score, threshold, stream, counts } of alarms) {
    t.match({ status, rule }, { status: 'OPEN', rule: 'take-down' })
    t.ok(Number(score) >= Number(threshold), 'the evidence is with it')
    t.equal(
      counts.reduce((sum, count) => sum + count, 0),
      stream.alarm?.trials,
    )
  }
  const registry = new Registry()
  registerAlarms(registry, createReturnsStore(rig.storage))
  const gauge = await registry.getSingleMetricAsString('pitboss_return_alarms')
  t.match(gauge, /pitboss_return_alarms 4\b/)

  // Whoever brings the game back has the last word: an alarm takes it down once.
  await rig.bus.call(opsSetGame, { order, slug: 'dice', status: 'AVAILABLE' })
  await rig.storage.db
    .collection('return_streams')
    .updateMany({ alarmedAt: { $ne: null } }, { $set: { alarmDueAt: new Date() } })
  await settled(rig)
  t.equal((await alarmsOf(rig)).length, 4, 'an alarm is kept once')
  await waitFor(async () => (await codeOf(rig.openSession()).catch(() => null)) === null, {
    what: 'the game to be back',
  })

  await rig.bus.call(opsSetGame, { order: { ...order, by: 'return-watch' }, slug: 'dice', status: 'DOWN' })
  for (const [at, { alarm_id: alarmId }] of alarms.entries()) {
    for (const again of [false, true]) {
      const lifted = await rig.bus.call(opsLiftReturnAlarm, { order, alarmId, keepDown: false })
      t.match(lifted.alarm, { status: 'LIFTED', lifted_by: 'tester', lift_reason: order.reason })
      t.equal(lifted.brought_back, at === alarms.length - 1 && !again, 'the last one brings the game back')
    }
  }
  const { data } = await rig.bus.call(opsListReturns, { environment: 'SANDBOX', after: null, limit: 50 })
  t.match(
    data.map(({ shape, trials, alarm, operator_id }) => ({ shape, trials, alarm, operator_id })),
    ['chance 99/200', 'draws'].map((shape) => ({ shape, trials: 0, alarm: null, operator_id: null })),
    'its streams begin anew',
  )
  t.equal(
    await codeOf(rig.bus.call(opsLiftReturnAlarm, { order, alarmId: 'ral_x', keepDown: false })),
    'NOT_FOUND',
  )
})

t.test('told only, an alarm leaves the game as it is, and an account sees its own streams', async (t) => {
  const rig = await startRig(t, { catalogue, returnsAlarm: 'tell' })
  const session = await rig.openSession()
  for (let round = 0; round < rounds; round++) await rig.play(session, even)
  await waitFor(async () => (await alarmsOf(rig)).length === 4, { what: 'alarms of all streams' })
  await allCounted(rig.storage.db)
  t.match(await alarmsOf(rig), [{ rule: 'tell' }, { rule: 'tell' }, { rule: 'tell' }, { rule: 'tell' }])
  t.equal((await rig.play(session, even)).status, 'SETTLED')
  const request = { params: {}, query: { limit: 50 }, body: undefined, caller: rig.caller() }
  const { data } = (await rig.bus.call(dashboardListReturns.call, request)).body
  t.match(
    data.map(({ shape, currency, expected, stakes, alarm }) => ({
      shape,
      currency,
      expected,
      stakes,
      alarm,
    })),
    [
      { shape: 'chance 99/200', currency: 'USD', expected: '0.990000', stakes: /^4[01]\.00$/, alarm: {} },
      { shape: 'draws', currency: 'USD', expected: null, stakes: null, alarm: {} },
    ],
  )
  t.ok(data[0]?.points.length, 'with the picture of how it came about')
})
