import { z } from 'zod'
import { page } from './demo-answers.ts'
import { eventually, expectAnswer } from './demo-http.ts'
import type { DemoLog } from './demo-log.ts'

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
