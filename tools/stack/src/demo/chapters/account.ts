import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { exchange } from '../../exchange.ts'
import { anything, DemoError, eventually, expectAnswer, failure, sessionAnswer } from '../answers.ts'
import type { Chapter, Tour } from '../tour.ts'
import { runCommand } from './commands.ts'
import { dashboardToken } from './dashboard-key.ts'

const business = z.looseObject({ second_person: z.boolean().default(false) })
const approval = z.looseObject({ status: z.string() })
const needed = z.looseObject({ details: z.tuple([z.looseObject({ message: z.string() })]) })
const person = z.looseObject({ user_id: z.string() })
const signedIn = z.looseObject({ access_token: z.string() })
const credential = z.looseObject({ api_key: z.string() })
const changeWithinMs = 5000

/** People are added, and for a while grave acts wait for two of them: one is done, one is not. */
export const secondPerson: Chapter = async (tour) => {
  const { api, log, run, atEnd } = tour
  log.step('Two people join', 'POST /v1/dashboard/users: Ada, an ADMIN, and Vera, who is invited to read')
  const owner = await dashboardToken(tour)
  const ada = { email: `ada-${run}@demo-casino.example`, password: randomBytes(12).toString('hex') }
  const add = (body: object) =>
    expectAnswer(201, person, 'POST', `${api}/dashboard/users`, { token: owner, body })
  const { user_id: adaId } = await add({ ...ada, name: 'Ada', role: 'ADMIN' })
  // Nobody who can approve stays behind.
  atEnd(() => expectAnswer(200, anything, 'PATCH', `${api}/dashboard/users/${adaId}`, demotion(owner)))
  await add({ email: `vera-${run}@demo-casino.example`, name: 'Vera', role: 'VIEWER' })
  const { access_token: second } = await expectAnswer(200, signedIn, 'POST', `${api}/dashboard/login`, {
    body: ada,
  })
  log.happened(`${ada.email} has signed in; Vera's invitation waits`)

  log.step('Grave acts wait for a second person', 'PATCH /v1/business { second_person: true }')
  const keys = `${api}/dashboard/credentials`
  const key = { name: `Leaves ${run}`, environment: 'LIVE', scopes: ['games:read'], ip_allowlist: [] }
  const made = await expectAnswer(201, credential, 'POST', keys, { token: owner, body: key })
  atEnd(() => removed(`${keys}/${made.api_key}`, owner))
  const wants = (second_person: boolean) =>
    ({ method: 'PATCH', url: `${api}/business`, body: { second_person } }) as const
  const before = await expectAnswer(200, business, 'GET', `${api}/business`, { token: owner })
  if (!before.second_person) {
    const { method, url, body } = wants(true)
    await expectAnswer(200, business, method, url, { token: owner, body })
    atEnd(async () => approve(tour, await asked(wants(false), owner), second))
  }
  const deletion = await asked({ method: 'DELETE', url: `${keys}/${made.api_key}` }, owner)
  await approve(tour, deletion, second)
  log.happened(`${deletion}: the owner asks, others approve, and the LIVE key is gone`)
  const game = { method: 'PATCH', url: `${api}/dashboard/games/spin-bottle`, body: { enabled: false } }
  const off = await asked(game, owner)
  const rejection = await expectAnswer(200, approval, 'POST', `${api}/dashboard/approvals/${off}/reject`, {
    token: second,
  })
  if (rejection.status !== 'REJECTED') throw new DemoError(`${off} should be REJECTED: ${rejection.status}`)
  log.happened(`${off}: Ada rejects it, and the game stays on`)
}

type Act = { readonly method: string; readonly url: string; readonly body?: object }

/** Asks for a grave act. @returns the id of what waits */
async function asked({ method, url, body }: Act, token: string): Promise<string> {
  const answer = await exchange(method, url, { token, ...(body === undefined ? {} : { body }) })
  if (answer.status !== 409 || failure.parse(answer.body).code !== 'APPROVAL_NEEDED')
    throw new DemoError(`${method} ${url} should need approval: ${JSON.stringify(answer)}`)
  return needed.parse(answer.body).details[0].message
}

/** Ada approves; while she was added a short time ago, two people of operations do in her place. */
async function approve({ api, demo, dataDir, log }: Tour, id: string, ada: string): Promise<void> {
  const url = `${api}/dashboard/approvals/${id}/approve`
  const { status, body } = await exchange('POST', url, { token: ada })
  const isDone = status === 200 && approval.parse(body).status === 'DONE'
  if (isDone) return
  if (status !== 403) throw new DemoError(`${url} answered ${status}: ${JSON.stringify(body)}`)
  for (const by of ['ann', 'ben']) {
    const { code, stderr } = await runCommand('tools/ops/src/main.ts', [
      ...['approval', 'approve', id, '--operator', demo.operator_id, '--by', by],
      ...['--reason', 'guided tour', '--data-dir', dataDir, '--json', '--yes'],
    ])
    if (code !== 0) throw new DemoError(`the ops command ended with ${code}: ${stderr}`)
  }
  log.happened(`${id}: Ada was added a short time ago, so Ann and Ben of operations approve`)
}

const demotion = (token: string) => ({ token, body: { role: 'DEVELOPER' } })

/** Removes what may be gone already. */
async function removed(url: string, token: string): Promise<void> {
  const { status } = await exchange('DELETE', url, { token })
  if (status !== 204 && status !== 404) throw new DemoError(`DELETE ${url} answered ${status}`)
}

/** A player is kept from playing for a week; another one plays again. */
export const stoppedPlayers: Chapter = async (tour) => {
  const { api, log, run, token, open } = tour
  log.step('A player is stopped', 'POST /v1/dashboard/players/{player_id}/stop, until a week from now')
  const person = await dashboardToken(tour)
  const [rests, isBack] = [`demo-${run}-rests`, `demo-${run}-is-back`]
  const act = (player: string, act: string, body: object) =>
    expectAnswer(200, anything, 'POST', `${api}/dashboard/players/${player}/${act}`, { token: person, body })
  await open('dice', rests)
  const until = new Date(Date.now() + 7 * 24 * 60 * 60 * 1000).toISOString()
  await act(rests, 'stop', { reason: 'Asked for a week off on the phone.', until })
  const body = { player_id: rests, game: 'dice', currency: 'USD' }
  const refused = await exchange('POST', `${api}/sessions`, { token, body })
  if (refused.status !== 403 || failure.parse(refused.body).code !== 'PLAYER_BLOCKED')
    throw new DemoError(`a stopped player should be PLAYER_BLOCKED: ${JSON.stringify(refused)}`)
  log.happened(`${rests} opens no session: ${refused.status} PLAYER_BLOCKED`)
  await act(isBack, 'stop', { reason: 'A complaint is looked at.' })
  await act(isBack, 'stop/lift', { reason: 'The complaint is settled.' })
  await open('dice', isBack)
  log.happened(`the stop of ${isBack} is lifted; the next session opens`)
}

/** A brand of the account, with a round of its own for the reports. */
export const playedBrand: Chapter = async (tour) => {
  const { api, log, run, token, play, settled } = tour
  log.step('A brand of the casino', 'POST /v1/dashboard/brands, then a session and a round of it')
  const person = await dashboardToken(tour)
  const made = z.looseObject({ brand_id: z.string(), name: z.string() })
  const name = `Demo Casino North ${run}`
  const brand = await expectAnswer(201, made, 'POST', `${api}/dashboard/brands`, {
    token: person,
    body: { name },
  })
  const body = { player_id: `demo-${run}-north`, game: 'dice', currency: 'USD', brand: brand.brand_id }
  // The change reaches every gateway within two seconds.
  const { launch_url } = await eventually(
    'a session of the new brand',
    async () => {
      const answer = await exchange('POST', `${api}/sessions`, { token, body })
      return answer.status === 201 ? sessionAnswer.parse(answer.body) : null
    },
    changeWithinMs,
  )
  const playerToken = new URL(launch_url).hash.replace('#token=', '')
  const bet = { stake: '1.00', bet: { target: '50.00', direction: 'over' } }
  const round = await settled(playerToken, await play(playerToken, bet))
  log.happened(`${brand.name} has its first round: ${round.round_id}`)
}
