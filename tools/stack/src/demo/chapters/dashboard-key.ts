import { z } from 'zod'
import { failure, tokenAnswer, anything, DemoError, eventually, expectAnswer } from '../answers.ts'
import { exchange } from '../../exchange.ts'
import type { Chapter, Tour } from '../tour.ts'

const credential = z.looseObject({ api_key: z.string(), api_secret: z.string() })
const revokedWithinMs = 2000

/** The life of a key: created, used, rotated, revoked. */
export const dashboardKey: Chapter = async (tour) => {
  const { api, demo, log, run, atEnd } = tour
  log.step('A key made in the dashboard', `POST /v1/dashboard/login as ${demo.dashboard.email}, then a key`)
  const person = await dashboardToken(tour)
  const made = await expectAnswer(201, credential, 'POST', `${api}/dashboard/credentials`, {
    token: person,
    body: { name: `Tour ${run}`, environment: 'TEST', scopes: [], ip_allowlist: [] },
  })
  const url = `${api}/dashboard/credentials/${made.api_key}`
  atEnd(() => expectAnswer(204, anything, 'DELETE', url, { token: person }))
  const mint = (api_secret: string) =>
    exchange('POST', `${api}/auth/token`, { body: { api_key: made.api_key, api_secret } })
  const token = tokenOf(await mint(made.api_secret))
  const use = () => exchange('GET', `${api}/games`, { token })
  if ((await use()).status !== 200) throw new DemoError('the new key cannot be used')
  log.happened(`${made.api_key}; its secret was shown this once, its token reads the games`)

  log.step('The key is rotated', 'POST /v1/dashboard/credentials/{api_key}/rotate')
  const rotated = await expectAnswer(200, credential, 'POST', `${url}/rotate`, { token: person })
  const old = await mint(made.api_secret)
  refusal('the old secret', old)
  log.happened(`the old secret is refused: ${old.status} ${failure.parse(old.body).code}`)
  tokenOf(await mint(rotated.api_secret))
  if ((await use()).status !== 200) throw new DemoError('rotation ended a token that was minted before it')
  log.happened('the new secret is good, and the token minted before goes on working')

  log.step('The key is revoked', 'POST /v1/dashboard/credentials/{api_key}/revoke')
  await expectAnswer(200, anything, 'POST', `${url}/revoke`, { token: person })
  const revokedAtMs = performance.now()
  const refused = await eventually(
    'the refusal of a token of the revoked key',
    async () => {
      const answer = await use()
      return answer.status === 200 ? null : answer
    },
    revokedWithinMs,
  )
  const afterMs = Math.round(performance.now() - revokedAtMs)
  refusal('the token of the revoked key', refused)
  log.happened(`its token is refused after ${afterMs} ms: ${refused.status} INVALID_CREDENTIALS`, {
    after_ms: afterMs,
  })
  refusal('the secret of the revoked key', await mint(rotated.api_secret))
}

function tokenOf(answer: { status: number; body: unknown }): string {
  if (answer.status !== 200) throw new DemoError(`no token: ${JSON.stringify(answer.body)}`)
  return tokenAnswer.parse(answer.body).access_token
}

function refusal(what: string, answer: { status: number; body: unknown }): void {
  if (answer.status !== 401 || failure.parse(answer.body).code !== 'INVALID_CREDENTIALS')
    throw new DemoError(
      `${what} should be INVALID_CREDENTIALS: ${answer.status} ${JSON.stringify(answer.body)}`,
    )
}

/** Signs the demo operator's owner in, once per tour. */
export async function dashboardToken(tour: Tour): Promise<string> {
  tour.person ??= (
    await expectAnswer(
      200,
      z.looseObject({ access_token: z.string() }),
      'POST',
      `${tour.api}/dashboard/login`,
      { body: tour.demo.dashboard },
    )
  ).access_token
  return tour.person
}
