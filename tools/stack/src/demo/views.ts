import { z } from 'zod'
import { page, expectAnswer, eventually } from './answers.ts'
import type { DemoLog } from './demo-log.ts'

const walletCall = z.looseObject({
  seq: z.number(),
  operation: z.string(),
  status: z.string().nullable(),
  body: z.string(),
  fault: z.string().nullable(),
})
const movementBody = z.looseObject({ amount: z.string(), currency: z.string(), transactionId: z.string() })

export type WalletView = {
  /** Shows the wallet calls since the last look that concern `needle`. */
  show(needle: string): Promise<void>
  /** Leaves out the calls so far. */
  skip(): Promise<void>
}

/** Calls of the sandbox wallet, from its own log. */
export async function createWalletView(walletUrl: string, log: DemoLog): Promise<WalletView> {
  const calls = async (query: string) =>
    (await expectAnswer(200, page(walletCall), 'GET', `${walletUrl}/sandbox/calls?${query}`)).data
  const latest = async () => (await calls('latest=true&limit=1'))[0]?.seq ?? 0
  let seen = await latest()
  return {
    async skip() {
      seen = await latest()
    },
    async show(needle) {
      for (const call of await calls(`after=${seen}&limit=1000`)) {
        seen = Math.max(seen, call.seq)
        if (call.operation === 'balance' || !call.body.includes(needle)) continue
        const { amount, currency, transactionId } = movementBody.parse(JSON.parse(call.body))
        log.detail(
          'wallet',
          `${call.operation} ${amount} ${currency}  ${transactionId} → ${call.status ?? `no answer (${call.fault ?? 'dropped'})`}`,
          { operation: call.operation, amount, currency, status: call.status },
        )
      }
    },
  }
}

const delivery = z.looseObject({
  received_at: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  verified: z.boolean(),
  event_id: z.string().nullable(),
  event_type: z.string().nullable(),
  attempt: z.number().nullable(),
  answered_status: z.number().nullable(),
  raw_body: z.string(),
})
export type Received = z.infer<typeof delivery>
type Wanted = { type?: string; path?: string; mentions?: string }

export type ReceiverView = {
  /** Everything that arrived and is as wanted, oldest first. */
  list(wanted: Wanted): Promise<Received[]>
  /** Waits for a verified webhook of `type` on the demo endpoint that mentions `needle`, and shows it. */
  show(type: string, needle: string): Promise<void>
}

/** Deliveries at the demo receiver, from its own list. */
export function createReceiverView(receiverUrl: string, log: DemoLog): ReceiverView {
  const list: ReceiverView['list'] = async ({ type, path, mentions = '' }) => {
    const url = new URL('/demo/received?limit=1000', receiverUrl)
    if (type !== undefined) url.searchParams.set('type', type)
    if (path !== undefined) url.searchParams.set('path', path)
    const found: Received[] = []
    let after: number | null = 0
    while (after !== null) {
      url.searchParams.set('after', String(after))
      const answer: { data: Received[]; next_after: number | null } = await expectAnswer(
        200,
        page(delivery).extend({ next_after: z.number().nullable() }),
        'GET',
        url.href,
      )
      found.push(...answer.data.filter((row) => row.raw_body.includes(mentions)))
      after = answer.next_after
    }
    return found
  }
  return {
    list,
    async show(type, needle) {
      const path = new URL(receiverUrl).pathname
      const found = await eventually(`the webhook ${type} of ${needle}`, async () => {
        const arrived = await list({ type, path, mentions: needle })
        return arrived.find(({ verified }) => verified) ?? null
      })
      log.detail(
        'webhook',
        `${type}  ${found.event_id ?? ''}  signature verified, attempt ${found.attempt ?? '?'}`,
        { type, event_id: found.event_id, attempt: found.attempt },
      )
    },
  }
}
