import { createWebhook, patchWebhook } from '@pitboss/contracts/endpoints/webhooks'
import { newId } from '@pitboss/runtime/new-id'
import { callerIn } from '@pitboss/testing/sample-caller'
import t from 'tap'
import { startRig } from './fixtures/rig.ts'

const none = { params: {}, query: {} }

t.test('a new LIVE endpoint, and another address of one, wait for a second person', async (t) => {
  const rig = await startRig(t)
  const { approvals } = rig
  const caller = rig.caller()
  const create = (url: string, environment: 'TEST' | 'LIVE' = 'LIVE') =>
    rig.call(createWebhook, {
      caller: callerIn(caller, environment),
      ...none,
      body: { url, environment, events: [] },
    })
  const patch = (webhook_id: string, body: object) =>
    rig.call(patchWebhook, { caller: callerIn(caller, 'LIVE'), params: { webhook_id }, query: {}, body })
  const given = () => ({ approval_id: newId('apr'), user_id: newId('usr'), email: 'second@casino.example' })
  approvals.isWanted = true
  const [first, second] = ['https://example.com/first', 'https://example.com/second']

  await create(first, 'TEST')
  t.equal(approvals.asked.length, 0, 'a TEST endpoint asks nobody')
  await t.rejects(create(first), { code: 'APPROVAL_NEEDED' })
  t.match(approvals.asked, [{ order: { act: 'endpoint.create', url: first }, before: null }])
  approvals.permits.push(given())
  const { body: made } = await create(first)
  t.match(made.secret, /^whsec_/, 'who asked is shown the secret')

  await patch(made.webhook_id, { description: 'Ledger', url: first })
  t.equal(approvals.asked.length, 2, 'the same address asks nobody')
  await t.rejects(patch(made.webhook_id, { url: second }), { code: 'APPROVAL_NEEDED' })
  t.match(approvals.asked.at(-1), {
    order: { act: 'endpoint.change', webhook_id: made.webhook_id, url: second },
    before: { url: first },
    after: { url: second },
  })
  approvals.permits.push(given())
  t.equal((await patch(made.webhook_id, { url: second })).body.url, second)
})
