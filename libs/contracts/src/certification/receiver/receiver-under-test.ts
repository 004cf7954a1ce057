import { CaseFailure, expect } from '../run-cases.ts'
import type { CertificationEdges } from '../exchange.ts'
import type { Peer } from '../http-cases.ts'

/** Time-out of the service for the whole exchange. Source: docs/contract.md, section 7. */
const DELIVERY_TIMEOUT_MS = 15_000

export type Delivery = {
  eventId: string
  eventType: string
  body: string
  timestamp: string
  signature: string
  attempt: number
}

export type ReceiverUnderTest = Peer & {
  /** A signed delivery of a fresh event; `change` alters the event before it is signed. */
  delivery(eventType?: string, change?: object): Delivery
  /** The hex signature of a body under a secret, the endpoint's by default. */
  sign(timestamp: string, body: string, secret?: string): string
  /** Sends it, `without` some headers, and gives the answer's status and time; no answer fails the case. */
  send(delivery: Delivery, without?: readonly string[]): Promise<{ httpStatus: number; latencyMs: number }>
}

export type ReceiverUnderTestOptions = CertificationEdges & { secret: string }

export function createReceiverUnderTest(options: ReceiverUnderTestOptions): ReceiverUnderTest {
  const { secret, post, now } = options
  const { signBody, signatureTimestamp } = options.signing
  const sign = (timestamp: string, body: string, key = secret): string => signBody(key, timestamp, body)

  const newDelivery = (eventType = 'round.completed', change = {}): Delivery => {
    const event = { ...exampleEvent(eventType, options), ...change }
    const body = JSON.stringify(event)
    const timestamp = signatureTimestamp(now())
    const signature = `v1=${sign(timestamp, body)}`
    return { eventId: event.id, eventType, body, timestamp, signature, attempt: 1 }
  }

  const exchange = (delivery: Delivery, without: readonly string[] = []) => {
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'Pitboss-Webhooks/1',
      'x-svc-event-id': delivery.eventId,
      'x-svc-event-type': delivery.eventType,
      'x-svc-timestamp': delivery.timestamp,
      'x-svc-signature': delivery.signature,
      'x-svc-delivery-attempt': String(delivery.attempt),
    }
    for (const name of without) delete headers[name]
    return post({ path: '', headers, body: delivery.body, timeoutMs: DELIVERY_TIMEOUT_MS })
  }

  return {
    what: 'receiver',
    sign,
    delivery: newDelivery,
    probe: () => exchange(newDelivery('webhook.test')),
    async send(delivery, without) {
      const answer = await exchange(delivery, without)
      if (answer.kind === 'failure')
        throw new CaseFailure(`${delivery.eventType}: ${answer.error}`, answer.remedy)
      return answer
    },
  }
}

/** Sends and wants a 2xx. */
export async function expectAccepted(receiver: ReceiverUnderTest, delivery: Delivery): Promise<void> {
  const { httpStatus } = await receiver.send(delivery)
  const accepted = httpStatus >= 200 && httpStatus < 300
  const isRedirect = httpStatus >= 300 && httpStatus < 400
  expect(
    accepted,
    `${delivery.eventType}: expected 2xx, got ${httpStatus}`,
    isRedirect ? 'Redirects are not followed: name the address that answers itself.' : null,
  )
}

/** Sends and wants anything but a 2xx; a 4xx is the honest answer. */
export async function expectRefused(
  receiver: ReceiverUnderTest,
  delivery: Delivery,
  without?: readonly string[],
): Promise<void> {
  const { httpStatus } = await receiver.send(delivery, without)
  expect(httpStatus >= 400 && httpStatus < 500, `${delivery.eventType}: expected 4xx, got ${httpStatus}`)
}

function exampleEvent(type: string, { now, newUuid }: ReceiverUnderTestOptions) {
  const newHex = () => newUuid().replaceAll('-', '').slice(0, 26)
  return {
    id: `evt_${newHex()}`,
    type,
    created_at: now().toISOString(),
    environment: 'SANDBOX',
    operator_id: '0197c0de-0000-7000-8000-0000000000aa',
    data: {
      round_id: `rnd_${newHex()}`,
      game: 'dice',
      wallet_round_id: newUuid(),
      wallet_game_id: '0197c0de-0000-7000-8000-00000000d1ce',
      player_id: 'certification',
      stake: '10.00',
      payout: '0.00',
      currency: 'USD',
      free_bet: false,
    },
  }
}
