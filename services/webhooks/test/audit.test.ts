import {
  fanoutRewind,
  opsReplayEndpoint,
  opsRetryDelivery,
  opsRetryParked,
} from '@pitboss/contracts/calls/webhooks'
import * as endpoints from '@pitboss/contracts/endpoints/webhooks'
import { holdAudit } from '@pitboss/testing/hold-audit'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { serveAuditLog } from '@pitboss/testing/serve-audit-log'
import { waitFor } from '@pitboss/testing/wait-for'
import { pino } from 'pino'
import t from 'tap'
import { startReceiver } from './fixtures/receiver.ts'
import type { CertificationDocument } from '../src/wings/certifications/wing.ts'
import { startRig } from './fixtures/rig.ts'

const order = { by: 'ann', reason: 'asked for', dryRun: false }
const rig = await startRig(t)
const log = await serveAuditLog(t, rig.bus, pino({ level: 'silent' }))
const { operatorId } = rig.scope
const caller = rig.caller({ eitherEnvironment: true })
const [userId] = caller.actor.kind === 'user' ? [caller.actor.user_id] : []
const byUser = { actor: { kind: 'user', id: userId ?? '' }, operatorId } as const
const byOperations = { actor: { kind: 'operations', id: 'ann' }, operatorId } as const
const byKey = { actor: { kind: 'service', id: 'ck_test_1' }, operatorId } as const
const receiver = await startReceiver(t)
const { webhook_id, secret = 'none' } = await rig.createEndpoint(receiver.url)
const at = { caller, params: { webhook_id }, query: {}, body: undefined }
const window = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-02T00:00:00.000Z' }
const none = async (work: Promise<unknown>) => {
  await work
  return [secret]
}

/** The id of a delivery that has ended. */
const ended = async () => {
  const event = await rig.publish()
  return waitFor(async () => {
    const [delivery] = await rig.deliveries({ event_id: event.id })
    return delivery?.status === 'DELIVERED' ? delivery.delivery_id : null
  })
}
const startReplay = () =>
  rig.call(endpoints.createReplay, { ...at, body: { ...window, only: 'all', dry_run: false } })
const parkedId = 'prk_1'
await rig.collections.parked.insertOne({
  ...{ _id: parkedId, consumer: 'webhooks-fanout', streamSeq: 1, subject: 'events.v1.sandbox.x.y' },
  ...{ messageId: null, payload: 'e30=', error: 'not JSON', deliveries: 5, parkedAt: new Date() },
})

await holdAudit(t, {
  service: 'webhooks',
  entries: async () => log,
  cases: {
    'webhooks.v1.endpoint.create': {
      ...{ act: 'endpoint.create', ...byUser },
      run: async () => {
        const made = { url: receiver.url, environment: 'TEST', events: [] } as const
        const { body } = await rig.call(endpoints.createWebhook, {
          ...{ caller, params: {}, query: {} },
          body: { ...made, events: [] },
        })
        return [body.secret ?? 'none']
      },
    },
    'webhooks.v1.endpoint.change': {
      ...{ act: 'endpoint.change', ...byUser },
      run: () => none(rig.call(endpoints.patchWebhook, { ...at, body: { description: 'ledger' } })),
    },
    'webhooks.v1.endpoint.rotate-secret': {
      ...{ act: 'endpoint.rotate-secret', ...byUser },
      run: async () => {
        const { body } = await rig.call(endpoints.rotateWebhookSecret, { ...at, body: { overlap_s: 60 } })
        return [body.secret, secret]
      },
    },
    'webhooks.v1.endpoint.test': {
      ...{ act: 'endpoint.test', ...byUser },
      run: () => none(rig.call(endpoints.testWebhook, at)),
    },
    'webhooks.v1.endpoint.pause': {
      ...{ act: 'endpoint.pause', ...byUser },
      run: () => none(rig.call(endpoints.pauseWebhook, at)),
    },
    'webhooks.v1.endpoint.resume': {
      ...{ act: 'endpoint.resume', ...byUser },
      run: () => none(rig.call(endpoints.resumeWebhook, { ...at, body: { held: 'skip' } })),
    },
    'webhooks.v1.certification.start': {
      ...{ act: 'endpoint.certify', ...byUser },
      run: () => none(rig.call(endpoints.certifyWebhook, at)),
    },
    'webhooks.v1.certification.cancel': {
      ...{ act: 'certification.cancel', ...byUser },
      run: async () => {
        // As if another replica worked on it for a minute.
        const claim = {
          status: 'RUNNING',
          claimedUntil: new Date(Date.now() + 60_000),
          claimToken: 99,
        } as const
        const job = await rig.storage.db
          .collection<CertificationDocument>('certifications')
          .findOneAndUpdate({ subject: webhook_id }, { $set: claim })
        const params = { webhook_id, certification_id: job?._id ?? 'none' }
        return none(rig.call(endpoints.cancelWebhookCertification, { ...at, params }))
      },
    },
    'webhooks.v1.replay.create': {
      ...{ act: 'endpoint.replay', ...byUser },
      run: () => none(startReplay()),
    },
    'webhooks.v1.replay.cancel': {
      ...{ act: 'replay.cancel', ...byUser },
      run: async () => {
        const { body } = await startReplay()
        const replay_id = body.replay_id ?? ''
        const { replays } = rig.collections
        await waitFor(async () => (await replays.countDocuments({ _id: replay_id, status: 'DONE' })) === 1)
        // As if there were more to send.
        await replays.updateOne({ _id: replay_id }, { $set: { status: 'RUNNING' } })
        const params = { webhook_id, replay_id }
        return none(rig.call(endpoints.cancelReplay, { ...at, params }))
      },
    },
    'webhooks.v1.delivery.retry': {
      ...{ act: 'delivery.retry', ...byKey },
      run: async () => {
        const actor = { kind: 'credential', api_key: 'ck_test_1', scopes: [] as string[] } as const
        const params = { delivery_id: await ended() }
        return none(rig.call(endpoints.retryDelivery, { ...at, caller: { ...rig.caller(), actor }, params }))
      },
    },
    'webhooks.v1.delivery.retry-for-dashboard': {
      ...{ act: 'delivery.retry', ...byUser },
      run: async () => {
        const params = { delivery_id: await ended() }
        return none(rig.call(endpoints.dashboardRetryDelivery, { ...at, params }))
      },
    },
    'webhooks.v1.ops.seal-rewrite': {
      why: 'it seals the same values anew; the command records it, once for all services and pages',
    },
    'webhooks.v1.ops.delivery-retry': {
      ...{ act: 'delivery.retry', ...byOperations },
      run: async () => none(rig.bus.call(opsRetryDelivery, { order, deliveryId: await ended() })),
    },
    'webhooks.v1.ops.endpoint-replay': {
      ...{ act: 'endpoint.replay', ...byOperations },
      run: () =>
        none(rig.bus.call(opsReplayEndpoint, { order, webhookId: webhook_id, ...window, only: 'all' })),
    },
    'webhooks.v1.ops.parked-retry': {
      ...{ act: 'parked.retry', ...byOperations, operatorId: null },
      run: () => none(rig.bus.call(opsRetryParked, { order, parkedId })),
    },
    'webhooks.v1.ops.rewind-start': {
      ...{ act: 'consumer.rewind', ...byOperations, operatorId: null },
      run: () => none(rig.bus.call(fanoutRewind.start, { order, fromSeq: 1, toSeq: 2 })),
    },
    'webhooks.v1.endpoint.delete': {
      ...{ act: 'endpoint.delete', ...byUser },
      run: () => none(rig.call(endpoints.deleteWebhook, at)),
    },
  },
})

t.test('a change that changes nothing leaves no record', async (t) => {
  const { webhook_id: id } = await rig.createEndpoint(receiver.url)
  const known = log.length
  await rig.call(endpoints.resumeWebhook, { ...at, params: { webhook_id: id }, body: { held: 'skip' } })
  t.equal(log.length, known)
})

t.test('what waits in a document moves with the next entry, once', async (t) => {
  const { webhook_id: id } = await rig.createEndpoint(receiver.url)
  const entry = { ...sampleAuditEntry(operatorId), audit_id: 'aud_waiting', act: 'endpoint.change' }
  await rig.collections.endpoints.updateOne(
    { _id: id },
    { $push: { auditOutbox: entry }, $set: { auditOutboxAt: new Date() } },
  )
  await rig.createEndpoint(receiver.url)
  await waitFor(() => log.some(({ audit_id }) => audit_id === 'aud_waiting'))
  t.equal(log.filter(({ audit_id }) => audit_id === 'aud_waiting').length, 1)
  await waitFor(
    async () => (await rig.collections.endpoints.countDocuments({ auditOutboxAt: { $ne: null } })) === 0,
  )
})
