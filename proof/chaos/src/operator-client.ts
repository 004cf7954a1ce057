import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { type Answer, send } from './send.ts'

const page = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  next_cursor: z.string().nullable(),
})
const triesMax = 600
const everyMs = 200

export type OperatorClient = {
  base: string
  token: string
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** Every row of a list, page by page. @throws when a page is refused. */
  all(path: string): Promise<Record<string, unknown>[]>
}

/** The operator's server: a token of one environment. Tries until the product answers. */
export async function createOperatorClient(
  demo: DemoFile,
  keys: { api_key: string; api_secret: string },
): Promise<OperatorClient> {
  const base = `${demo.base_url}/v1`
  const minted = await untilStatus(200, () => send('POST', `${base}/auth/token`, { body: keys }))
  const token = String(minted.body.access_token)
  const call = (method: string, path: string, body?: unknown) =>
    send(method, base + path, { token, ...(body === undefined ? {} : { body }) })
  return {
    base,
    token,
    call,
    async all(path) {
      const rows: Record<string, unknown>[] = []
      let cursor: string | null = null
      do {
        const glue = path.includes('?') ? '&' : '?'
        const at: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
        const answer = await untilStatus(200, () => call('GET', `${path}${glue}limit=200${at}`))
        const { data, next_cursor } = page.parse(answer.body)
        rows.push(...data)
        cursor = data.length === 0 ? null : next_cursor
      } while (cursor !== null)
      return rows
    },
  }
}

/** Asks again until the answer has the status. @throws the last answer, when it never has. */
export async function untilStatus(status: number, ask: () => Promise<Answer>): Promise<Answer> {
  let last: Answer = { status: 0, body: {} }
  for (let tries = 0; tries < triesMax; tries++) {
    last = await ask()
    if (last.status === status) return last
    await delay(everyMs)
  }
  throw new Error(`answered ${last.status} instead of ${status}: ${JSON.stringify(last.body)}`)
}
