import { doApproved } from '@pitboss/contracts/calls/approvals'
import { dashboardListGames, dashboardPatchGame, patchGame } from '@pitboss/contracts/endpoints/sessions'
import { newId } from '@pitboss/runtime/new-id'
import { serveApprovals } from '@pitboss/testing/serve-approvals'
import { serveAuditLog } from '@pitboss/testing/serve-audit-log'
import { pino } from 'pino'
import t from 'tap'
import { startRig } from './fixtures/rounds-rig.ts'

const logger = pino({ level: 'silent' })
const rig = await startRig(t)
const approvals = await serveApprovals(t, rig.bus, logger)
const log = await serveAuditLog(t, rig.bus, logger)
const caller = rig.caller()
const patch = (slug: string, body: Parameters<typeof send>[1]) => send(slug, body)
const send = async (slug: string, body: { enabled?: boolean; limits?: (typeof usd)[] }) =>
  (await rig.bus.call(dashboardPatchGame.call, { caller, params: { slug }, query: {}, body })).body
const usd = { currency: 'USD', min_stake: '1.00', max_stake: '2.00' }
const isOn = async (slug: string) => {
  const query = { limit: 50 }
  const { body } = await rig.bus.call(dashboardListGames.call, { caller, params: {}, query, body: undefined })
  return body.data.find((game) => game.slug === slug)?.enabled
}

/** What auth sends when the act that was asked last is approved. */
function approved() {
  const asked = approvals.asked.at(-1)
  if (asked?.order.act !== 'game.change') throw new Error('nobody has asked about a game')
  const approval = { approval_id: newId('apr'), user_id: newId('usr'), email: 'second@casino.example' }
  const { order, seen, by } = asked
  const given = { order, seen, by: { ...by, approval } }
  approvals.give(given)
  return { ...given, account: caller.account }
}

t.test('to switch a game off waits for a second person where the account wants one', async (t) => {
  approvals.isWanted = true
  await t.rejects(patch('dice', { enabled: false, limits: [usd] }), { code: 'APPROVAL_NEEDED' })
  t.equal(await isOn('dice'), true, 'nothing was done')
  t.match(approvals.asked.at(-1), {
    order: { act: 'game.change', slug: 'dice', patch: { enabled: false } },
    object: { type: 'game', id: 'dice' },
    before: { enabled: true },
    after: { enabled: false },
  })
  const asked = approvals.asked.length
  await patch('dice', { limits: [usd] })
  await patch('dice', { enabled: true })
  t.equal(approvals.asked.length, asked, 'limits, and a game that is on, ask nobody')

  await t.rejects(
    rig.bus.call(patchGame.call, {
      ...{ caller, params: { slug: 'dice' }, query: {}, body: { enabled: false } },
    }),
    { code: 'APPROVAL_NEEDED' },
  )
  const request = approved()
  const forged = { ...request, order: { ...request.order, slug: 'mines' } }
  await t.rejects(rig.bus.call(doApproved.game, forged), { code: 'FORBIDDEN' }, 'nobody approved that')
  t.equal(await isOn('mines'), true)
  t.same(await Promise.all([1, 2, 3].map(() => rig.bus.call(doApproved.game, request))), [
    { result: 'done' },
    { result: 'done' },
    { result: 'done' },
  ])
  t.equal(await isOn('dice'), false)
  const entries = log.filter(({ approval }) => approval !== undefined)
  t.equal(entries.length, 1, 'it was done once')
  t.match(entries[0], { act: 'game.change', actor: request.by.actor, approval: request.by.approval })

  await patch('dice', { enabled: false })
  t.equal(await isOn('dice'), false, 'a game that is off is switched off by nobody')
  await patch('dice', { enabled: true })
  t.same(await rig.bus.call(doApproved.game, request), { result: 'done' }, 'a late repeat')
  t.equal(await isOn('dice'), true, 'does nothing again')
})

t.test('who switches off what is off never switches off what somebody switches on', async (t) => {
  for (let turn = 0; turn < 20; turn++) {
    approvals.isWanted = false
    await patch('spin-bottle', { enabled: false })
    approvals.isWanted = true
    const unchanged = Array.from({ length: 3 }, () => patch('spin-bottle', { enabled: false }))
    await Promise.all([patch('spin-bottle', { enabled: true }), Promise.allSettled(unchanged)])
    t.equal(await isOn('spin-bottle'), true, `turn ${turn}`)
  }
})

t.test('what was approved for other settings is not done', async (t) => {
  approvals.isWanted = true
  await t.rejects(patch('mines', { enabled: false }), { code: 'APPROVAL_NEEDED' })
  const request = approved()
  await patch('mines', { limits: [usd] })
  t.same(await rig.bus.call(doApproved.game, request), { result: 'stale' })
  t.equal(await isOn('mines'), true)
  approvals.isWanted = false
  t.equal((await patch('mines', { enabled: false })).enabled, false, 'an account that wants none is free')
})
