import { tokenAnswer } from '../demo-answers.ts'
import { expectAnswer } from '../demo-http.ts'
import type { Chapter } from '../tour.ts'

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
