import { z } from 'zod'
import { page } from '../demo-answers.ts'
import { DemoError, expectAnswer } from '../demo-http.ts'
import type { Chapter } from '../tour.ts'

const minutesBackMs = 600_000
const eventsPage = page(z.looseObject({ id: z.string(), type: z.string() })).extend({
  next_cursor: z.string(),
})

/** Reads the same events again in order by polling. */
export const polledHistory: Chapter = async ({ api, log, token }) => {
  log.step('The same history by polling', 'GET /v1/events')
  const from = encodeURIComponent(new Date(Date.now() - minutesBackMs).toISOString())
  const { data } = await expectAnswer(200, eventsPage, 'GET', `${api}/events?limit=200&from=${from}`, {
    token,
  })
  if (data.length === 0) throw new DemoError('GET /v1/events is empty')
  log.happened(`${data.length} envelopes, the same bytes as the webhooks; next_cursor goes on from here`)
}
