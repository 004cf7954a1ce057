import { once } from 'node:events'
import { opsRoundsStatus } from '@pitboss/contracts/calls/rounds'
import * as playerEndpoints from '@pitboss/contracts/endpoints/players'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import * as sessionsEndpoints from '@pitboss/contracts/endpoints/sessions'
import * as playEndpoints from '@pitboss/contracts/endpoints/play'
import { verifyRound } from '@pitboss/fairness/verify-round'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { caughtUp, rewindMovements, publishMovementEvent } from './fixtures/rewind-movements.ts'
import { codeOf, type Rig, startRig } from './fixtures/rounds-rig.ts'
import { spawnService } from './fixtures/spawn-service.ts'

/** Each case has its own database and account, and mostly waits. */
t.jobs = 4
const atOnce = { buffered: true }

/** A busy machine takes long to start a process. */
const startTimeoutMs = 60_000

const list = async (rig: Rig) =>
  (
    await rig.bus.call(endpoints.listRounds.call, {
      caller: rig.caller(),
      params: {},
      query: { limit: 50 },
      body: undefined,
    })
  ).body.data

void t.test('a process that dies at any step loses, repeats and re-rolls nothing', atOnce, async (t) => {
  const rig = await startRig(t, { running: false })
  const cases: { at: string; freeBet?: boolean; status: 'SETTLED' | 'VOIDED' }[] = [
    { at: 'rounds.intent-stored', status: 'VOIDED' },
    { at: 'rounds.stake-placed', status: 'SETTLED' },
    { at: 'rounds.drawn', status: 'SETTLED' },
    { at: 'rounds.settlement-placed', status: 'SETTLED' },
    { at: 'rounds.settled', status: 'SETTLED' },
    { at: 'rounds.grant-used', freeBet: true, status: 'SETTLED' },
  ]
  for (const { at, freeBet = false, status } of cases) {
    const child = spawnService(rig, at)
    const exited = once(child, 'exit')
    try {
      const session = await waitFor(() => rig.openSession(), {
        timeoutMs: startTimeoutMs,
        what: 'the service answers',
      })
      if (freeBet) {
        await rig.bus.call(endpoints.createFreeBet.call, {
          caller: rig.caller(),
          params: {},
          query: {},
          body: { player_id: session.player_id, game: 'dice', currency: 'USD', stake: '1.00', count: 1 },
        })
      }
      const shown = await rig.bus.call(playEndpoints.getPlayerSession.call, {
        caller: rig.playerOf(session),
        params: {},
        query: {},
        body: undefined,
      })
      const asked = rig.wallet.asked.length
      const request = {
        client_seed: 'crash',
        free_bet: freeBet,
        transaction_id: `crash-${at}-${session.session_id}`,
      }
      const bet = { target: '98.00', direction: 'under' }
      // The process dies before it answers, unless the round is lost (2 in 100): a lost round settles
      // nothing, so the case is played again.
      const died = exited.then(() => true)
      const isDead = await Promise.race([
        died,
        rig.play(session, { ...request, bet }).then(
          () => false,
          () => died,
        ),
      ])
      if (!isDead) {
        child.kill('SIGKILL')
        await exited
        cases.push({ at, freeBet, status })
        continue
      }
      const [, signal] = await exited
      t.equal(signal, 'SIGKILL', `${at}: the process died there`)

      const stop = await rig.start()
      const round = await rig.until(
        async () => {
          const [found] = await list(rig)
          return found?.session_id === session.session_id && found.status === status ? found : null
        },
        { what: `${at}: the round ends ${status}` },
      )
      t.equal(
        round.fairness.server_seed_hash,
        shown.body.next_round.server_seed_hash,
        `${at}: the shown commitment is kept`,
      )
      t.ok(verifyRound(round).valid, `${at}: the outcome is that of the stored seed`)
      const moved = rig.wallet.asked.slice(asked).map(({ type }) => type)
      const won = status === 'SETTLED' && round.payout !== '0.00'
      const stake = status === 'VOIDED' || freeBet ? [] : ['BET']
      t.same(moved, [...stake, ...(won ? ['WIN'] : [])], `${at}: each movement once`)
      const ended = await waitFor(
        async () => {
          const events = (await rig.events()).filter(({ data }) => data.round_id === round.round_id)
          return events.length === (status === 'SETTLED' ? 2 : 0) ? events : null
        },
        { what: `${at}: its events` },
      )
      t.same(
        ended.map(({ type }) => type),
        status === 'SETTLED' ? ['round.started', 'round.completed'] : [],
      )
      const next = await rig.play(session)
      t.equal(next.fairness.nonce, 2, `${at}: the nonce sequence goes on without a gap`)
      await stop()
    } finally {
      child.kill('SIGKILL')
    }
  }
})

void t.test(
  'a session whose process dies before it answers is there, once, with its event',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { running: false })
    const child = spawnService(rig, 'rounds.session-appended')
    const exited = once(child, 'exit')
    t.teardown(() => child.kill('SIGKILL'))
    const player_id = 'opened and not answered'
    const open = () => rig.openSession({ player_id }, { idempotencyKey: 'the same' })
    const opened = async () => {
      const request = { caller: rig.caller(), params: {}, query: { player_id, limit: 50 }, body: undefined }
      return (await rig.bus.call(sessionsEndpoints.listSessions.call, request)).body.data
    }
    let isDead = false
    const died = exited.then(() => (isDead = true))
    // Until the process serves calls nobody answers.
    await waitFor(
      async () => isDead || (await Promise.race([open().then(() => true), died]).catch(() => false)),
      {
        timeoutMs: startTimeoutMs,
        what: 'the process dies',
      },
    )
    const [, signal] = await exited
    t.equal(signal, 'SIGKILL', 'the process died there')
    t.equal(await rig.storage.db.collection('sessions').countDocuments(), 0, 'its entry stands alone')

    await rig.start()
    const [recovered] = await waitFor(async () => {
      const found = await opened()
      return found.length > 0 ? found : null
    })
    t.same(await open(), recovered, 'a repeat under its key')
    t.equal((await opened()).length, 1)
    t.equal((await rig.play(await open())).fairness.nonce, 1)
    const created = await waitFor(async () => {
      const events = (await rig.events()).filter(({ type }) => type === 'game.session.created')
      return events.length > 0 ? events : null
    })
    t.match(created, [{ data: { session_id: recovered?.session_id } }], 'one event')
  },
)

void t.test('a rewind outlives a replica that dies in it, and counts nothing twice', atOnce, async (t) => {
  const rig = await startRig(t, { running: false })
  const stop = await rig.start()
  const session = await rig.openSession()
  const published = 100
  for (let count = 0; count < published / 4; count++) {
    const { round_id: roundId } = await rig.play(session)
    for (let times = 0; times < 4; times++) await publishMovementEvent(rig, roundId)
  }
  await caughtUp(rig)
  await stop()
  const child = spawnService(rig, 'rounds.rewind-counted')
  try {
    await waitFor(() => rig.bus.call(opsRoundsStatus, {}), {
      ...{ timeoutMs: startTimeoutMs, what: 'the service answers' },
    })
    const rewinding = rewindMovements(rig)
    await waitFor(() => child.signalCode === 'SIGKILL', {
      what: 'its death between counting and acknowledging',
    })
    await rig.start()
    t.match(await rewinding, { seen: published, repaired: 0, unchanged: published, parked: 0 })
  } finally {
    child.kill('SIGKILL')
  }
})

void t.test('a stop of a player that was stored is carried out, whatever dies', atOnce, async (t) => {
  const rig = await startRig(t, { running: false })
  const child = spawnService(rig, 'rounds.stop-stored')
  try {
    const player_id = 'stopped'
    const mines = await waitFor(() => rig.openSession({ player_id, game: 'mines' }), {
      timeoutMs: startTimeoutMs,
      what: 'the service answers',
    })
    const { round_id } = await rig.play(mines)
    const died = once(child, 'exit')
    // it gets no answer, which takes the whole budget of the call
    const answer = rig.bus.call(playerEndpoints.stopPlayer.call, {
      caller: rig.caller(),
      params: { player_id },
      query: {},
      body: { reason: 'self-exclusion' },
    })
    answer.then(
      () => t.fail('a process that died has answered'),
      () => undefined,
    )
    const [, signal] = await died
    t.equal(signal, 'SIGKILL')
    await rig.start()
    const ended = await rig.until(
      async () => {
        const round = await rig.round(round_id)
        return round.status === 'VOIDED' ? round : null
      },
      { what: 'the open round is ended' },
    )
    t.equal(ended.end_reason, 'abandoned')
    t.equal(await codeOf(rig.play(mines)), 'PLAYER_BLOCKED')
    t.equal(await codeOf(rig.openSession({ player_id })), 'PLAYER_BLOCKED')
  } finally {
    child.kill('SIGKILL')
  }
})

void t.test(
  'a stake whose process dies before the wallet was asked takes nothing from a limit',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { running: false })
    const child = spawnService(rig, 'rounds.stake-charged')
    const player_id = 'limited'
    const request = { caller: rig.caller(), params: { player_id }, query: {} }
    const limits = [{ kind: 'stake', period: 'month', currency: 'USD', amount: '1.00' } as const]
    const shown = async () =>
      (await rig.bus.call(playerEndpoints.getLimits.call, { ...request, body: undefined })).body
    try {
      await waitFor(() => rig.bus.call(playerEndpoints.putLimits.call, { ...request, body: { limits } }), {
        ...{ timeoutMs: startTimeoutMs, what: 'the service answers' },
      })
      const session = await rig.openSession({ player_id })
      const died = once(child, 'exit')
      rig.play(session).then(
        () => t.fail('a process that died has answered'),
        () => undefined,
      )
      const [, signal] = await died
      t.equal(signal, 'SIGKILL')
      await rig.start()
      t.match(
        await shown(),
        { limits: [{ used: '1.00', left: '0.00' }] },
        'what became of it is not known yet',
      )
      await rig.until(async () => (await list(rig))[0]?.status === 'VOIDED', {
        what: 'the stake is given back',
      })
      t.match(await shown(), { limits: [{ used: '0.00', left: '1.00' }] })
      t.ok(await rig.play(session))
      t.equal(await codeOf(rig.play(session)), 'BET_LIMIT_EXCEEDED')
      const moved = rig.wallet.asked.filter(({ type }) => type === 'BET')
      t.equal(moved.length, 1, 'one stake was taken')
    } finally {
      child.kill('SIGKILL')
    }
  },
)
