import { randomUUID } from 'node:crypto'
import { waitFor } from '@pitboss/testing/wait-for'
import type { Test } from 'tap'
import { z } from 'zod'
import { type AccessWorld, okay } from './access-world.ts'
import { makeApprovals } from './make-approvals.ts'
import { reconcileNothing } from './reconcile-nothing.ts'

const document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        security: z.array(z.record(z.string(), z.unknown())),
        requestBody: z
          .object({ content: z.record(z.string(), z.looseObject({ example: z.unknown().optional() })) })
          .optional(),
      }),
    ),
  ),
})
const rows = z.array(z.record(z.string(), z.unknown()))

/** Names of parameters that are the same for everybody. */
const shared = new Set(['slug', 'environment', 'operator_id'])

/** Of no tenant, so that a path with another's id in it goes as far as that id. */
const fixed: Record<string, string> = { game: 'mines', environment: 'TEST' }

/**
 * Players are named by operators, each his own, and can be stopped, or get limits, before their first
 * session.
 */
const ofAnyPlayer = /[/]players[/]\{player_id\}[/](stop|limits)/

/** Without ids, names and times, which two stops, or two records of limits, never share. */
const unnamed = ({ status, text }: { status: number; text: string }) => ({
  status,
  text: text.replaceAll(/"(stop_id|player_id|from|lifted_at|at)":"[^"]*"/g, ''),
})

/** Whoever asks for what is another's gets, byte for byte, what an id that never existed gets. */
export async function isolationChapter(t: Test, world: AccessWorld): Promise<void> {
  const { send, mint, signIn, demo, second } = world
  const { paths } = document.parse(JSON.parse((await send('GET', '/v1/public/openapi.json')).text))
  const ids = await makeOneOfEach(world)
  const boss = await signIn(second.dashboard)
  const strangers: { name: string; tokens: Record<string, string> }[] = []
  const theirs = await mint(await world.createKey(boss))
  const { playerToken } = await world.openSession(theirs, { player_id: 'stranger' })
  strangers.push({
    name: 'another operator',
    tokens: { 'operator-api': theirs, dashboard: boss, 'game-launcher': playerToken },
  })
  strangers.push({ name: 'the other environment', tokens: { 'operator-api': await mint(demo.live) } })
  const owned = () => readAll(world, ids)
  const before = await owned()

  for (const { name, tokens } of strangers) {
    await t.test(`${name}: a foreign id and an unknown one are told nothing apart`, async (t) => {
      for (const [template, methods] of Object.entries(paths)) {
        const names = [...template.matchAll(/\{([a-z_]+)\}/g)].map(([, each = '']) => each)
        if (!names.some((each) => !shared.has(each)) || template.startsWith('/v1/public/')) continue
        for (const [method, { security, requestBody }] of Object.entries(methods)) {
          const token = security
            .flatMap((scheme) => Object.keys(scheme))
            .map((audience) => tokens[audience])[0]
          if (token === undefined) continue
          const body = Object.values(requestBody?.content ?? {})[0]?.example
          const fill = (of: Record<string, string>) =>
            template.replaceAll(
              /\{([a-z_]+)\}/g,
              (_all, each: string) => of[each] ?? fixed[each] ?? `no-${each}`,
            )
          const ask = async (of: Record<string, string>) => {
            const options = body === undefined ? { token } : { token, body }
            const { status, text } = await send(method.toUpperCase(), fill(of), options)
            return { status, text: text.replace(/"request_id":"[^"]*"/, '') }
          }
          if (ofAnyPlayer.test(template)) {
            // Whoever acts on a player of this name acts on one of his own: he gets what a fresh name gets.
            const [foreign, fresh] = [await ask(ids), await ask(neverMade(ids))]
            t.strictSame(unnamed(foreign), unnamed(fresh), `${method} ${template}`)
            t.equal(foreign.status, 200, `${method} ${template}: ${foreign.text}`)
            continue
          }
          const [foreign, unknown] = [await ask(ids), await ask(neverMade(ids))]
          t.strictSame(foreign, unknown, `${method} ${template}`)
          t.equal(foreign.status, 404, `${method} ${template}: ${foreign.text}`)
        }
      }
    })
  }

  await t.test('and nothing of it was changed', async (t) => {
    t.strictSame(await owned(), before)
  })
}

/** One of everything that has an id, by the name of its path parameter. */
async function makeOneOfEach(world: AccessWorld): Promise<Record<string, string>> {
  const { send, mint, signIn, demo } = world
  const [token, owner] = [await mint(), await signIn()]
  const post = async (path: string, body: unknown, by = owner) =>
    okay(201, await send('POST', path, { token: by, body }))
  const { sessionId, playerToken } = await world.openSession(token, {
    player_id: 'owner-of-things',
    game: 'mines',
  })
  const round = await post('/v1/game/rounds', { stake: '1.00', bet: { mines: 2 } }, playerToken)
  const grant = await post(
    '/v1/free-bets',
    { player_id: 'owner-of-things', game: 'dice', currency: 'USD', stake: '1.00', count: 2 },
    token,
  )
  const movements = rows.parse(
    okay(200, await send('GET', `/v1/transactions?round_id=${String(round.round_id)}`, { token })).data,
  )
  const first = async (path: string) =>
    waitFor(async () => rows.parse(okay(200, await send('GET', path, { token: owner })).data)[0], {
      what: `something in ${path}`,
    })
  const event = await first('/v1/dashboard/events')
  const delivery = await first('/v1/dashboard/webhook-deliveries')
  const endpoint = `/v1/dashboard/webhooks/${demo.receiver.webhook_id}`
  const from = '2026-01-01T00:00:00Z'
  const to = '2026-01-02T00:00:00Z'
  const replay = await send('POST', `${endpoint}/replay`, { token: owner, body: { from, to } })
  const brand = await post('/v1/dashboard/brands', { name: `Brand ${randomUUID()}` })
  const body = { name: 'Wins', page: '/rounds', query: 'status=SETTLED' }
  const view = await post('/v1/dashboard/views', body)
  const user = await post('/v1/dashboard/users', {
    email: `${randomUUID()}@casino.example`,
    name: 'Ada',
    role: 'VIEWER',
  })
  const key = await world.createKey(owner)
  const rules = await send('GET', '/v1/dashboard/flag-rules/TEST', { token: owner })
  const low = { ...okay(200, rules), big_win: [{ currency: 'USD', amount: '0.01' }] }
  okay(200, await send('PUT', '/v1/dashboard/flag-rules/TEST', { token: owner, body: low }))
  const almostSure = { stake: '1.00', bet: { target: '2.00', direction: 'over' } }
  const dice = await world.openSession(token, { player_id: 'owner-of-things', game: 'dice' })
  const flag = await waitFor(
    async () => {
      okay(201, await send('POST', '/v1/game/rounds', { token: dice.playerToken, body: almostSure }))
      return rows.parse(okay(200, await send('GET', '/v1/dashboard/flags', { token: owner })).data)[0]
    },
    { everyMs: 500, what: 'a flag on a win' },
  )
  const [approval = ''] = await makeApprovals(world, owner, 1)
  const certify = await send('POST', '/v1/dashboard/wallets/TEST/certify', { token: owner, body: {} })
  const certification = String(okay(202, certify).certification_id)
  await waitFor(
    async () => {
      const path = `/v1/dashboard/wallets/TEST/certifications/${certification}`
      return okay(200, await send('GET', path, { token: owner })).status === 'DONE'
    },
    { timeoutMs: 90_000, everyMs: 500, what: 'the certification to end' },
  )
  return {
    player_id: 'owner-of-things',
    session_id: sessionId,
    round_id: String(round.round_id),
    grant_id: String(grant.grant_id),
    transaction_id: String(movements[0]?.transaction_id),
    event_id: String(event.id),
    delivery_id: String(delivery.delivery_id),
    webhook_id: demo.receiver.webhook_id,
    replay_id: String(okay(202, replay).replay_id),
    brand_id: String(brand.brand_id),
    view_id: String(view.view_id),
    flag_id: String(flag.flag_id),
    approval_id: approval,
    certification_id: certification,
    reconciliation_id: await reconcileNothing(world, owner, 'TEST'),
    user_id: String(user.user_id),
    api_key: key.api_key,
  }
}

/** Ids of the same form that nobody was ever given. */
function neverMade(ids: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(ids).map(([name, id]) => [
      name,
      id.slice(0, -8) + 'zzzzzzzz'.slice(0, Math.min(8, id.length)),
    ]),
  )
}

/** All of it as it is shown, but for the owner's own last sign-in, which looking brings about. */
async function readAll({ send, mint, signIn }: AccessWorld, ids: Record<string, string>): Promise<string[]> {
  const [token, owner] = [await mint(), await signIn()]
  const reads: [path: string, token: string][] = [
    [`/v1/sessions/${ids.session_id}`, token],
    [`/v1/rounds/${ids.round_id}`, token],
    [`/v1/free-bets/${ids.grant_id}`, token],
    [`/v1/transactions/${ids.transaction_id}`, token],
    [`/v1/dashboard/players/${ids.player_id}/fairness/mines`, owner],
    [`/v1/dashboard/webhooks/${ids.webhook_id}`, owner],
    [`/v1/dashboard/webhooks/${ids.webhook_id}/replays/${ids.replay_id}`, owner],
    [`/v1/dashboard/credentials/${ids.api_key}`, owner],
    ['/v1/dashboard/brands', owner],
    ['/v1/dashboard/views', owner],
    [`/v1/dashboard/flags/${ids.flag_id}`, owner],
    [`/v1/dashboard/approvals/${ids.approval_id}`, owner],
    [`/v1/dashboard/reports/reconciliation/${ids.reconciliation_id}`, owner],
    [`/v1/dashboard/wallets/TEST/certifications/${ids.certification_id}`, owner],
    ['/v1/dashboard/users', owner],
  ]
  const answers: string[] = []
  for (const [path, by] of reads) {
    const said = await send('GET', path, { token: by })
    okay(200, said)
    answers.push(said.text.replaceAll(/"last_login_at":"[^"]*"/g, ''))
  }
  return answers
}
