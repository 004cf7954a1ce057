import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { callerIn } from '@pitboss/testing/sample-caller'
import type { Scope } from '@pitboss/contracts/caller'
import { getFlag, getFlagRules, listFlags, patchFlag, putFlagRules } from '@pitboss/contracts/endpoints/flags'
import { defaultFlagRules, type FlagRules } from '@pitboss/contracts/objects/flag'
import { newId } from '@pitboss/runtime/new-id'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import {
  callerOf,
  clientOf,
  configureWallet,
  newScope,
  reversalOf,
  silentLogger,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { spawnBridge } from './fixtures/spawn-bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'
import { areDutiesDone } from './fixtures/stored-money.ts'
import { openTestMoney } from './fixtures/test-money.ts'
import { documentOf, initialState } from '../src/records/new-movement.ts'

const suite = await startSuite(t)
const environment = suite.environment({ timeScale: 50 })
const bridges = [await startBridge(environment), await startBridge(environment)]
t.teardown(() => Promise.all(bridges.map((bridge) => bridge.stop())))
const wallet = await startSandboxWallet(t, 'x')
const { storage } = suite

/** An account with its wallet and rules, and what its people see. */
async function openAccount(rules: Partial<FlagRules> = {}) {
  const scope = newScope()
  await wallet.setSecret(await configureWallet(suite.bus, scope, wallet.url, { timeout_ms: 15_000 }))
  const at = { caller: callerOf(scope), params: { environment: 'TEST' }, query: {} } as const
  await suite.bus.call(putFlagRules.call, { ...at, body: { ...defaultFlagRules, ...rules } })
  return { scope, client: clientOf(suite.bus, scope), flags: () => flagsOf(scope) }
}

async function flagsOf(scope: Scope, filters: { status?: 'OPEN' | 'CLOSED'; player_id?: string } = {}) {
  const query = { environment: 'TEST', limit: 50, ...filters } as const
  const request = { caller: callerOf(scope), params: {}, query, body: undefined }
  return (await suite.bus.call(listFlags.call, request)).body.data
}

/** Waits until the duties of all entries are done: what is not flagged then will not be. */
const allLookedAt = () => waitFor(() => areDutiesDone(storage.db), { what: 'all movements are looked at' })

const bigWins = { big_win: [{ currency: 'USD', amount: '50.00' }] }
/** A movement of the operator's own round, which stays open. */
const play = (change: Partial<Parameters<typeof specOf>[0]> = {}) =>
  specOf({ driver: 'operator', roundClosed: false, ...change })

t.test(
  'a win from the threshold on is flagged once, a smaller one and one in another currency not',
  async (t) => {
    const { client, flags } = await openAccount(bigWins)
    const bet = play()
    await client.place(bet)
    const win = { ...play({ type: 'WIN', amount: '50.00' }), roundId: bet.roundId }
    await Promise.all([client.place(win), client.place(win)])
    await client.place({ ...play({ type: 'WIN', amount: '49.99' }), roundId: bet.roundId })
    const yen = play({ currency: 'JPY', amount: '500' })
    await client.place(yen)
    await client.place({ ...yen, type: 'WIN', transactionId: 'win-jpy' })
    await allLookedAt()
    t.match(await flags(), [
      {
        ...{ rule: 'BIG_WIN', status: 'OPEN', player_id: 'alice', round_id: bet.roundId },
        ...{ amount: '50.00', currency: 'USD', movements: 1, notes: 0 },
      },
    ])
    t.equal((await flags()).length, 1)
  },
)

t.test('a player whose movements have no clear outcome again and again is flagged once a day', async (t) => {
  const { client, flags } = await openAccount({ unknown_outcomes: { player: 3, wallet: 5 } })
  // Without an end: a retry of the first ones must not use up the fault of the last.
  await wallet.setFaults([{ operation: 'debit', player_id: 'unlucky', kind: 'http_error' }])
  const bets = [1, 2, 3, 4].map(() => play({ playerId: 'unlucky' }))
  for (const bet of bets.slice(0, 2)) await client.place(bet)
  await allLookedAt()
  t.strictSame(await flags(), [], 'two are no more than bad luck')
  for (const bet of bets.slice(2)) await client.place(bet)
  await allLookedAt()
  const [flag, ...others] = await flags()
  t.strictSame(others, [], 'the wallet has not reached its number')
  t.match(flag, { rule: 'UNKNOWN_OUTCOMES_OF_PLAYER', player_id: 'unlucky', movements: 4, round_id: null })
})

t.test('a wallet is flagged for movements of different players', async (t) => {
  const { client, flags } = await openAccount({ unknown_outcomes: { player: null, wallet: 3 } })
  const players = ['one', 'two', 'three']
  await wallet.setFaults(
    players.map((player_id) => ({ operation: 'debit', player_id, kind: 'http_error', count: 1 })),
  )
  for (const playerId of players) await client.place(play({ playerId }))
  await allLookedAt()
  t.match(await flags(), [{ rule: 'UNKNOWN_OUTCOMES_OF_WALLET', player_id: null, movements: 3 }])
})

t.test('money that goes back after a win is flagged, money that goes back without one is not', async (t) => {
  const { client, flags } = await openAccount()
  const plain = play({ playerId: 'plain' })
  await client.place(plain)
  await client.place(reversalOf(plain, 'ROLLBACK'))
  const bet = play({ playerId: 'back' })
  await client.place(bet)
  const win = { ...play({ type: 'WIN', playerId: 'back' }), roundId: bet.roundId }
  await client.place(win)
  const rollback = reversalOf(win, 'ROLLBACK')
  await client.place(rollback)
  await allLookedAt()
  const found = await flags()
  t.match(found, [{ rule: 'BACK_AFTER_WIN', player_id: 'back', round_id: bet.roundId }])
  t.equal(found.length, 1)
})

t.test('a rule that is off raises nothing', async (t) => {
  const off = { big_win: [], unknown_outcomes: { player: null, wallet: null }, back_after_win: false }
  const { client, flags } = await openAccount(off)
  const bet = play()
  await client.place(bet)
  const win = { ...play({ type: 'WIN', amount: '900.00' }), roundId: bet.roundId }
  await client.place(win)
  await client.place(reversalOf(win, 'ROLLBACK'))
  await allLookedAt()
  t.strictSame(await flags(), [])
})

t.test('a process that dies between a flag and the end of its duty leaves one flag', async (t) => {
  const prefix = `${suite.engines.databasePrefix}_dies${randomBytes(4).toString('hex')}`
  const own = {
    ...environment,
    PITBOSS_DATABASE_PREFIX: prefix,
    PITBOSS_FAILPOINTS: 'wallet.flags-raised=kill',
  }
  const { db, close } = await connectStorage({
    url: suite.engines.mongodbUrl,
    database: `${prefix}_wallet_bridge`,
    logger: silentLogger,
  })
  t.teardown(close)
  // A process that ends before the duties of its entry are done.
  const never = { name: 'never', run: () => Promise.reject(new Error('it ends before')) }
  const money = await openTestMoney(t, db, { duties: [never] })
  const state = { ...initialState('WIN', new Date()), status: 'SUCCESS', dueAt: null } as const
  const win = documentOf({ scope: newScope(), spec: play({ type: 'WIN' }), reference: newId('txn'), state })
  const other = specOf({ type: 'WIN' })
  await money.movements.insert({ ...win, lookFor: ['BIG_WIN'] })
  await money.movements.insert({
    ...documentOf({ scope: newScope(), spec: other, reference: newId('txn'), state }),
    lookFor: ['BIG_WIN'],
  })
  await money.running.stop()
  const child = spawnBridge(t, own)
  const [, signal]: unknown[] = await once(child, 'exit')
  t.equal(signal, 'SIGKILL')
  const stored = db.collection('flags')
  t.equal(await stored.countDocuments({ transactionIds: win.transactionId }), 1, 'its flag is stored')
  t.equal(await stored.countDocuments(), 1)
  const again = await startBridge({ ...own, PITBOSS_FAILPOINTS: '' })
  t.teardown(() => again.stop())
  await waitFor(() => stored.findOne({ transactionIds: other.transactionId }), {
    what: 'another process does the duties again',
  })
  t.equal(await stored.countDocuments({ transactionIds: win.transactionId }), 1)
})

t.test('a case is taken, noted on and closed by name, and its lists follow', async (t) => {
  const { scope, client, flags } = await openAccount(bigWins)
  const bet = play()
  await client.place(bet)
  await client.place({ ...play({ type: 'WIN', amount: '80.00' }), roundId: bet.roundId })
  await allLookedAt()
  const [{ flag_id } = { flag_id: '' }] = await flags()
  const caller = callerOf(scope)
  const patch = (body: object) =>
    suite.bus.call(patchFlag.call, { caller, params: { flag_id }, query: {}, body })
  const { body: taken } = await patch({ status: 'IN_REVIEW', note: ' Asked the studio. ' })
  t.match(taken, { status: 'IN_REVIEW', notes: [{ by: 'dev@example.com', text: 'Asked the studio.' }] })
  t.equal((await patch({ note: 'Asked the studio.' })).body.notes.length, 1, 'a repeat adds nothing')
  await patch({ status: 'CLOSED' })
  t.match(await flagsOf(scope, { status: 'CLOSED' }), [{ flag_id, notes: 1 }])
  t.strictSame(await flagsOf(scope, { status: 'OPEN' }), [])
  t.match(await flagsOf(scope, { player_id: 'alice' }), [{ flag_id }])
  t.strictSame(await flagsOf(scope, { player_id: 'bob' }), [])
  for (let note = 2; note <= 50; note++) await patch({ note: `Note ${note}` })
  await t.rejects(patch({ note: 'One more' }), { code: 'CONFLICT', message: /at most 50 notes/ })
  await t.rejects(patch({}), { code: 'VALIDATION_ERROR' })
  const stranger = callerOf(newScope())
  const asked = { caller: stranger, params: { flag_id }, query: {}, body: undefined }
  await t.rejects(suite.bus.call(getFlag.call, asked), { code: 'NOT_FOUND' })
})

t.test('rules are of one environment, need its wallet, and name what is wrong', async (t) => {
  const scope = newScope()
  const at = { caller: callerOf(scope), params: { environment: 'TEST' }, query: {} } as const
  t.strictSame((await suite.bus.call(getFlagRules.call, { ...at, body: undefined })).body, defaultFlagRules)
  const put = (body: FlagRules) => suite.bus.call(putFlagRules.call, { ...at, body })
  await t.rejects(put(defaultFlagRules), { code: 'WALLET_NOT_CONFIGURED' })
  await configureWallet(suite.bus, scope, wallet.url)
  const rules = { ...defaultFlagRules, big_win: [{ currency: 'USD', amount: '5' }] }
  t.match((await put(rules)).body, { big_win: [{ amount: '5.00' }] })
  const params = { environment: 'LIVE' } as const
  const live = { ...at, caller: callerIn(at.caller, 'LIVE'), params, body: undefined }
  t.strictSame((await suite.bus.call(getFlagRules.call, live)).body, defaultFlagRules)
  await t.rejects(put({ ...rules, big_win: [{ currency: 'JPY', amount: '5.5' }] }), {
    code: 'VALIDATION_ERROR',
    details: [{ path: 'big_win[0].amount' }],
  })
})
