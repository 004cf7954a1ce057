import { tokenAnswer, expectAnswer, page, DemoError } from '../answers.ts'
import type { Chapter } from '../tour.ts'
import { z } from 'zod'

/** The operator's server signs in; every later chapter uses its token. */
export const serverToken: Chapter = async (tour) => {
  const { api, demo, log } = tour
  log.step("A token for the operator's server", `POST /v1/auth/token with ${demo.test.api_key}`)
  const { access_token, operator } = await expectAnswer(200, tokenAnswer, 'POST', `${api}/auth/token`, {
    body: demo.test,
  })
  tour.token = access_token
  log.happened(`a bearer token for ${operator.name}, mode ${operator.mode}`)
}

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
