import { getPlayerSession } from '@pitboss/contracts/endpoints/play'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import { sampleAccount } from '@pitboss/testing/sample-account'
import t from 'tap'
import { codeOf, errorOf, type Rig, startRig } from './fixtures/rounds-rig.ts'

const british = { jurisdiction: 'UK', currency: 'GBP' }
const inPounds = (rig: Rig) => ({
  account: sampleAccount(rig.scope.operatorId, { currencies: ['GBP', 'USD'] }),
})
const open = (rig: Rig, body: object) => rig.openSession({ ...british, ...body }, inPounds(rig))

t.test('a stake above the cap of its session is refused by name, and leaves nothing', async (t) => {
  const rig = await startRig(t)
  for (const { stake_cap, most, above } of [
    { stake_cap: 'slots', most: '2.00', above: '2.01' },
    { stake_cap: 'slots-25-over', most: '5.00', above: '5.01' },
  ]) {
    const session = await open(rig, { stake_cap })
    t.equal(session.stake_cap, stake_cap)
    const asked = rig.wallet.asked.length
    t.match(await errorOf(rig.play(session, { stake: above, transaction_id: stake_cap }, inPounds(rig))), {
      code: 'BET_LIMIT_EXCEEDED',
      message: `The greatest stake is ${most} GBP: the cap of UK for online slots.`,
      details: [{ path: 'stake_cap' }, { path: 'transaction_id' }],
    })
    t.equal(rig.wallet.asked.length, asked, 'the wallet was not asked')
    const played = await rig.play(session, { stake: most, transaction_id: `new-${stake_cap}` }, inPounds(rig))
    t.match(played, { stake: most, fairness: { nonce: 1 } }, 'the nonce was not used up')
  }
})

t.test('a cap holds a free bet, too, and a session without one is not held', async (t) => {
  const rig = await startRig(t)
  const capped = await open(rig, { stake_cap: 'slots', player_id: 'capped' })
  const body = { player_id: 'capped', game: 'dice', currency: 'GBP', stake: '3.00', count: 1 }
  await rig.bus.call(endpoints.createFreeBet.call, {
    ...{ caller: rig.caller(inPounds(rig)), params: {}, query: {}, body },
  })
  const free = { stake: '3.00', free_bet: true }
  t.equal(await codeOf(rig.play(capped, free, inPounds(rig))), 'BET_LIMIT_EXCEEDED')
  const plain = await open(rig, { player_id: 'capped' })
  t.notOk('stake_cap' in plain)
  t.equal((await rig.play(plain, free, inPounds(rig))).stake, '3.00')
})

t.test('a player is shown the limits that the cap leaves', async (t) => {
  const rig = await startRig(t)
  const mostShown = async (body: object) => {
    const session = await open(rig, body)
    const request = { caller: rig.playerOf(session, inPounds(rig)), params: {}, query: {}, body: undefined }
    const { game } = (await rig.bus.call(getPlayerSession.call, request)).body
    return game.limits.map(({ currency, max_stake }) => `${max_stake} ${currency}`)
  }
  t.strictSame(await mostShown({}), ['1000.00 GBP', '1000.00 USD'])
  t.strictSame(await mostShown({ stake_cap: 'slots' }), ['2.00 GBP', '1000.00 USD'])
  t.strictSame(await mostShown({ stake_cap: 'slots-25-over' }), ['5.00 GBP', '1000.00 USD'])
})

t.test('a cap is only taken where the jurisdiction has it, in its currency', async (t) => {
  const rig = await startRig(t)
  const cases = [
    { stake_cap: 'slots', jurisdiction: 'NONE' },
    { stake_cap: 'slots', jurisdiction: 'MT' },
    { stake_cap: 'slots', currency: 'USD' },
    { stake_cap: 'slots', limits: { min_stake: '3.00' } },
  ]
  for (const body of cases) t.equal(await codeOf(open(rig, body)), 'VALIDATION_ERROR', JSON.stringify(body))
  t.ok(await open(rig, { stake_cap: 'slots', limits: { min_stake: '2.00' } }))
})
