import { randomUUID } from 'node:crypto'
import { waitFor } from '@pitboss/testing/wait-for'
import { MongoClient } from 'mongodb'
import type { Test } from 'tap'
import { z } from 'zod'
import type { Said } from '../../fixtures/witness.ts'
import { type AccessWorld, okay } from './access-world.ts'

const dice = { target: '50.00', direction: 'over' }
const nobody = '0'.repeat(26)

/**
 * Codes that only play, wallets and switches bring about; each case is one request and the code that must
 * answer it.
 */
export async function errorsChapter(t: Test, world: AccessWorld): Promise<void> {
  const { send, mint, signIn, demo, second, ops } = world
  const token = await mint()
  const boss = await signIn(second.dashboard)
  const post = (path: string, body: unknown, by = token) => send('POST', path, { token: by, body })
  const move = (body: object, by = token) => post('/v1/transactions', body, by)
  const open = (more: object = {}, by = token) =>
    post('/v1/sessions', { player_id: 'eve', game: 'dice', currency: 'USD', ...more }, by)
  const expect = async (t: Test, code: string, answer: Said | Promise<Said>) => {
    const said = await answer
    t.equal(said.code, code, `${code}: ${said.text.slice(0, 300)}`)
  }

  await t.test('a wallet that refuses, fails or keeps silent', async (t) => {
    const faults = `${demo.wallet.url}/sandbox/faults`
    const refusals = [
      ['PLAYER_BLOCKED', { kind: 'refuse', code: 'SELF_EXCLUDED', http_status: 403 }],
      ['WALLET_REJECTED', { kind: 'refuse', code: 'SOMETHING_ELSE', http_status: 422 }],
      ['INSUFFICIENT_FUNDS', { kind: 'refuse', code: 'INSUFFICIENT_FUNDS', http_status: 402 }],
      ['WALLET_UNAVAILABLE', { kind: 'http_error', http_status: 503 }],
      ['WALLET_TIMEOUT', { kind: 'hang' }],
    ] as const
    const rules = refusals.map(([code, rule]) => ({ operation: 'debit', player_id: code, ...rule }))
    const put = await fetch(faults, { method: 'PUT', body: JSON.stringify({ rules }) })
    t.equal(put.status, 200)
    for (const [code] of refusals) {
      const { playerToken } = await world.openSession(token, { player_id: code })
      await expect(t, code, post('/v1/game/rounds', { stake: '1.00', bet: dice }, playerToken))
    }
    await fetch(faults, { method: 'DELETE' })
  })

  await t.test('movements that contradict one another', async (t) => {
    const { sessionId } = await world.openSession(token, { player_id: 'mover' })
    const bet = {
      type: 'BET',
      transaction_id: randomUUID(),
      session_id: sessionId,
      amount: '2.00',
      currency: 'USD',
    }
    const placed = okay(201, await move(bet))
    await expect(t, 'TRANSACTION_CONFLICT', move({ ...bet, amount: '3.00' }))
    await expect(t, 'CURRENCY_MISMATCH', move({ ...bet, transaction_id: randomUUID(), currency: 'EUR' }))
    await expect(
      t,
      'BET_LIMIT_EXCEEDED',
      move({ ...bet, transaction_id: randomUUID(), round_id: placed.round_id, amount: '999999999.00' }),
    )
    const refund = { type: 'REFUND', reference_transaction_id: bet.transaction_id }
    okay(201, await move({ ...refund, transaction_id: randomUUID() }))
    await expect(t, 'TRANSACTION_ALREADY_REVERSED', move({ ...refund, transaction_id: randomUUID() }))
    await expect(t, 'TRANSACTION_NOT_FOUND', send('GET', `/v1/transactions/${randomUUID()}`, { token }))
    await expect(t, 'ROUND_ALREADY_SETTLED', post(`/v1/rounds/${String(placed.round_id)}/void`, {}))
  })

  await t.test('sessions and rounds that are not there, not open or not over', async (t) => {
    const { sessionId, playerToken } = await world.openSession(token, { player_id: 'miner', game: 'mines' })
    const mine = { stake: '1.00', bet: { mines: 3 } }
    okay(201, await post('/v1/game/rounds', mine, playerToken))
    await expect(t, 'ROUND_IN_PROGRESS', post('/v1/game/rounds', mine, playerToken))
    const other = await world.openSession(token, { player_id: 'leaver' })
    okay(200, await post(`/v1/sessions/${other.sessionId}/close`, {}))
    await expect(
      t,
      'SESSION_CLOSED',
      post('/v1/game/rounds', { stake: '1.00', bet: dice }, other.playerToken),
    )
    await expect(t, 'SESSION_NOT_FOUND', send('GET', `/v1/sessions/ses_${nobody}`, { token }))
    await expect(t, 'ROUND_NOT_FOUND', send('GET', `/v1/rounds/rnd_${nobody}`, { token }))
    await expect(t, 'INSUFFICIENT_SCOPE', send('GET', `/v1/sessions/${sessionId}`, { token: playerToken }))
    await expect(t, 'BRAND_NOT_FOUND', open({ brand: `brd_${nobody}` }))
    await expect(t, 'CURRENCY_NOT_SUPPORTED', open({ currency: 'GBP' }))
    await expect(t, 'GAME_NOT_FOUND', send('GET', '/v1/games/poker', { token }))
    await expect(t, 'VALIDATION_ERROR', open({ player_id: 5 }))
    await expect(t, 'UNAUTHORIZED', send('GET', '/v1/games'))
    await expect(t, 'NOT_FOUND', send('GET', `/v1/events/evt_${nobody}`, { token }))
    const headers = { 'idempotency-key': randomUUID() }
    const body = { player_id: 'once', game: 'dice', currency: 'USD' }
    okay(201, await send('POST', '/v1/sessions', { token, body, headers }))
    await expect(
      t,
      'CONFLICT',
      send('POST', '/v1/sessions', { token, body: { ...body, player_id: 'two' }, headers }),
    )
  })

  await t.test('switches of games and of live play', async (t) => {
    const keys = await world.createKey(boss)
    const theirs = await mint(keys)
    const down = await ops('game', 'set', 'spin-bottle', '--status', 'DOWN')
    t.match(down, { status: 'DOWN' })
    await expect(t, 'GAME_UNAVAILABLE', open({ game: 'spin-bottle' }))
    await ops('game', 'set', 'spin-bottle', '--status', 'AVAILABLE')
    const off = { token: boss, body: { enabled: false } }
    okay(200, await send('PATCH', '/v1/dashboard/games/mines', off))
    const ada = { email: 'ada.second@casino.example', password: 'a second person watches' }
    const second_person = { token: boss, body: { second_person: true } }
    await expect(t, 'CONFLICT', send('PATCH', '/v1/business', second_person))
    const person = { token: boss, body: { ...ada, name: 'Ada', role: 'ADMIN' } }
    okay(201, await send('POST', '/v1/dashboard/users', person))
    okay(200, await send('PATCH', '/v1/business', second_person))
    await expect(t, 'APPROVAL_NEEDED', send('PATCH', '/v1/dashboard/games/dice', off))
    const without = { token: boss, body: { second_person: false } }
    const { body: ended } = await send('PATCH', '/v1/business', without)
    const { details } = z.object({ details: z.tuple([z.object({ message: z.string() })]) }).parse(ended)
    const approval = `/v1/dashboard/approvals/${details[0].message}/approve`
    t.match(await send('POST', approval, { token: await signIn(ada) }), { body: { status: 'DONE' } })
    await expect(t, 'GAME_NOT_ENABLED', open({ game: 'mines' }, theirs))

    const live = await world.createKey(boss, { environment: 'LIVE' })
    const liveToken = await mint(live)
    await expect(t, 'WALLET_NOT_CONFIGURED', unlessOpened(open({}, liveToken), liveToken))
    for (const [play, code, message] of [
      ['suspended', 'OPERATOR_NOT_LIVE', /suspended/],
      ['off', 'REAL_MONEY_DISABLED', /account/],
    ] as const) {
      await ops('operator', 'set', second.operatorId, '--live-play', play)
      const said = await waitFor(async () => {
        const answer = await open({}, liveToken)
        return answer.code === code ? answer : null
      })
      t.match(said.body.message, message)
    }
    await ops('operator', 'set', second.operatorId, '--live-play', 'on')

    async function unlessOpened(opened: Promise<Said>, by: string): Promise<Said> {
      const session = await opened
      if (session.status !== 201) return session
      const body = {
        type: 'BET',
        transaction_id: randomUUID(),
        session_id: session.body.session_id,
        amount: '1.00',
        currency: 'USD',
      }
      return move(body, by)
    }
  })

  await t.test('a forged callback of a wallet, and a fault of our own', async (t) => {
    const callback = `/v1/public/wallet-callbacks/${demo.operator_id}/TEST`
    const headers = { 'x-timestamp': String(Math.floor(Date.now() / 1000)), 'x-signature': '0'.repeat(64) }
    await expect(
      t,
      'INVALID_SIGNATURE',
      send('POST', callback, { body: { transactionId: 'a', status: 'SUCCESS' }, headers }),
    )

    const made = okay(201, await post('/v1/dashboard/brands', { name: 'Broken' }, boss))
    const database = new MongoClient(demo.engines.mongodb.url)
    t.teardown(() => database.close())
    const brands = database.db('pitboss_auth').collection<{ _id: string }>('brands')
    await brands.updateOne({ _id: String(made.brand_id) }, { $set: { name: { not: 'a name' } } })
    const broken = await send('GET', '/v1/dashboard/brands', { token: boss })
    t.match(broken.body, {
      code: 'INTERNAL_ERROR',
      message: 'Something went wrong on our side.',
      details: undefined,
    })
    await brands.deleteOne({ _id: String(made.brand_id) })
  })
}
