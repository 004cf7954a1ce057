import type { Bus } from '@pitboss/bus/connect-bus'
import { createWebhook } from '@pitboss/contracts/endpoints/webhooks'
import { ownerOf } from '../harness/owner-of.ts'
import { until } from '../harness/until.ts'

/** An endpoint for all events of an operator that never was, as the gateway would ask for it. */
export async function addEndpoint(bus: Bus, operatorId: string, url: string): Promise<string> {
  const { body } = await bus.call(createWebhook.call, {
    caller: ownerOf(operatorId),
    params: {},
    query: {},
    body: { url, environment: 'TEST', events: [] },
  })
  return body.webhook_id
}

/** As `addEndpoint`, once the service answers. */
export async function firstEndpoint(bus: Bus, operatorId: string, url: string): Promise<string> {
  let webhookId: string | null = null
  await until('the webhooks service to answer', async () => {
    webhookId = await addEndpoint(bus, operatorId, url).catch(() => null)
    return webhookId !== null
  })
  return webhookId ?? ''
}
