import { roleSchema } from '@pitboss/contracts/caller'
import { send } from '@pitboss/testing/operator-client'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { z } from 'zod'
import { startCasino } from './fixtures/start-casino.ts'

type Role = z.infer<typeof roleSchema>
type Row = {
  readonly page: string
  /** The roles to which the page opens. */
  readonly opens: readonly Role[]
  /** A button of the page, and the roles that may press it. */
  readonly act?: { readonly name: string; readonly may: readonly Role[] }
  /** The request behind it, as a forged page would send it. */
  readonly forged: { readonly method: string; readonly path: string; readonly body?: unknown }
}

t.setTimeout(600_000)
const casino = await startCasino(t)
const api = `${casino.baseUrl}/v1`
const everybody = roleSchema.options
const builders: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER']
const ownerAndAdmin: readonly Role[] = ['OWNER', 'ADMIN']
const retriers: readonly Role[] = ['OWNER', 'ADMIN', 'DEVELOPER', 'SUPPORT']
const password = 'a sentence is easy to keep'

const ownerToken = await tokenOf(casino.owner)
const people = new Map<Role, { email: string; password: string }>([['OWNER', casino.owner]])
for (const role of everybody) {
  if (role === 'OWNER') continue
  const person = { email: `${role.toLowerCase()}@casino.example`, password }
  const body = { ...person, name: role, role }
  const made = await send('POST', `${api}/dashboard/users`, { token: ownerToken, body })
  if (made.status !== 201) throw new Error(`a ${role} was not made: ${JSON.stringify(made.body)}`)
  people.set(role, person)
}
const { sessionId } = await casino.seat('dice')
const deliveryId = await waitFor(
  async () => {
    const { body } = await send('GET', `${api}/dashboard/webhook-deliveries?limit=1`, { token: ownerToken })
    return z.object({ data: z.array(z.object({ delivery_id: z.string() })) }).parse(body).data[0]?.delivery_id
  },
  { what: 'the session has made a delivery' },
)

const rules = `${api}/dashboard/flag-rules/TEST`
const { body: usual } = await send('GET', rules, { token: ownerToken })
const big_win = [{ currency: 'USD', amount: '0.01' }]
await send('PUT', rules, { token: ownerToken, body: { ...usual, big_win } })
const almostSure = { stake: '1.00', bet: { target: '2.00', direction: 'over' } }
const lucky = await casino.operator.openSession({ player_id: 'lucky', game: 'dice', currency: 'USD' })
const flagId = await waitFor(
  async () => {
    await lucky.call('POST', '/game/rounds', almostSure)
    const { body } = await send('GET', `${api}/dashboard/flags?status=OPEN`, { token: ownerToken })
    return z.object({ data: z.array(z.object({ flag_id: z.string() })) }).parse(body).data[0]?.flag_id
  },
  { what: 'a win is flagged', everyMs: 500 },
)

const sentTo = async (method: string, path: string, token: string, body?: unknown) =>
  (await send(method, `${api}/${path}`, { token, ...(body === undefined ? {} : { body }) })).body
await sentTo('PATCH', 'business', ownerToken, { second_person: true })
const asker = await tokenOf(people.get('ADMIN') ?? casino.owner)
const refusal = await sentTo('PATCH', 'dashboard/games/spin-bottle', asker, { enabled: false })
const approvalId = z.object({ details: z.tuple([z.object({ message: z.string() })]) }).parse(refusal)
  .details[0].message
const begun = await sentTo('POST', 'dashboard/wallets/TEST/certify', ownerToken, {})
const { certification_id: certificationId } = z.object({ certification_id: z.string() }).parse(begun)

const key = { name: 'Forged', environment: 'TEST', scopes: ['games:read'], ip_allowlist: [] }
const rows: readonly Row[] = [
  { page: '', opens: everybody, forged: { method: 'GET', path: 'dashboard/overview' } },
  {
    page: '/keys',
    opens: builders,
    act: { name: 'Create key', may: builders },
    forged: { method: 'POST', path: 'dashboard/credentials', body: key },
  },
  {
    page: '/endpoints',
    opens: builders,
    act: { name: 'Create endpoint', may: builders },
    forged: {
      method: 'POST',
      path: 'dashboard/webhooks',
      body: { url: 'https://casino.example/hooks', environment: 'TEST' },
    },
  },
  {
    page: '/reconciliation',
    opens: everybody,
    act: { name: 'Compare a ledger', may: everybody },
    forged: { method: 'GET', path: 'dashboard/reports/reconciliation' },
  },
  {
    page: '/wallet',
    opens: builders,
    act: { name: 'Check the wallet', may: builders },
    forged: { method: 'POST', path: 'dashboard/wallets/TEST/rotate-secret' },
  },
  {
    page: `/wallet/certifications/${certificationId}`,
    opens: builders,
    forged: { method: 'POST', path: `dashboard/wallets/TEST/certifications/${certificationId}/cancel` },
  },
  { page: '/requests', opens: builders, forged: { method: 'GET', path: 'dashboard/request-logs' } },
  {
    page: `/deliveries/${deliveryId}`,
    opens: everybody,
    act: { name: 'Retry now', may: retriers },
    forged: { method: 'POST', path: `dashboard/webhook-deliveries/${deliveryId}/retry` },
  },
  {
    page: '/people',
    opens: ownerAndAdmin,
    act: { name: 'Invite', may: ['OWNER'] },
    forged: {
      method: 'POST',
      path: 'dashboard/users',
      body: { email: 'forged@casino.example', name: 'Forged', role: 'OWNER' },
    },
  },
  { page: '/approvals', opens: builders, forged: { method: 'GET', path: 'dashboard/approvals' } },
  {
    page: `/approvals/${approvalId}`,
    opens: builders,
    // An ADMIN has asked for it.
    act: { name: 'Approve', may: ['OWNER'] },
    forged: { method: 'POST', path: `dashboard/approvals/${approvalId}/approve` },
  },
  {
    page: '/business',
    opens: everybody,
    act: { name: 'Do without a second person', may: ['OWNER'] },
    forged: { method: 'PATCH', path: 'business', body: { second_person: false } },
  },
  { page: '/audit', opens: ownerAndAdmin, forged: { method: 'GET', path: 'dashboard/audit' } },
  {
    page: '/business',
    opens: everybody,
    act: { name: 'Change settings', may: ownerAndAdmin },
    forged: { method: 'PATCH', path: 'business', body: { name: 'Forged' } },
  },
  {
    page: '/business',
    opens: everybody,
    act: { name: 'Create brand', may: ownerAndAdmin },
    forged: { method: 'POST', path: 'dashboard/brands', body: { name: 'Forged' } },
  },
  {
    page: `/sessions/${sessionId}`,
    opens: everybody,
    act: { name: 'Close session', may: ['OWNER', 'ADMIN', 'SUPPORT'] },
    forged: { method: 'POST', path: `dashboard/sessions/${sessionId}/close` },
  },
  {
    page: '/free-bets',
    opens: everybody,
    act: { name: 'Grant free bets', may: ownerAndAdmin },
    forged: {
      method: 'POST',
      path: 'dashboard/free-bets',
      body: { player_id: 'forged', game: 'dice', currency: 'USD', stake: '1.00', count: 1 },
    },
  },
  {
    page: '/flags',
    opens: everybody,
    act: { name: 'When flags are raised', may: everybody },
    forged: { method: 'GET', path: 'dashboard/flags' },
  },
  {
    page: `/flags/${flagId}`,
    opens: everybody,
    act: { name: 'Take it', may: ['OWNER', 'ADMIN', 'SUPPORT'] },
    forged: { method: 'PATCH', path: `dashboard/flags/${flagId}`, body: { note: 'Forged' } },
  },
  {
    page: '/games',
    opens: everybody,
    act: { name: 'Change Dice', may: ownerAndAdmin },
    forged: { method: 'PATCH', path: 'dashboard/games/dice', body: { enabled: false } },
  },
  { page: '/reports', opens: everybody, forged: { method: 'GET', path: 'dashboard/reports/summary' } },
  { page: '/returns', opens: everybody, forged: { method: 'GET', path: 'dashboard/returns' } },
  { page: '/fairness', opens: everybody, forged: { method: 'GET', path: 'dashboard/games' } },
  { page: '/player', opens: everybody, forged: { method: 'GET', path: 'dashboard/sessions' } },
  { page: '/rounds', opens: everybody, forged: { method: 'GET', path: 'dashboard/rounds' } },
]

for (const role of everybody)
  t.test(`${role} sees what the API opens, and no more by a forged request`, async (t) => {
    const person = people.get(role)
    if (person === undefined) throw new Error(`there is no ${role}`)
    const { page, complaints, close } = await casino.window()
    await page.goto(`${casino.baseUrl}/dashboard`)
    await page.getByLabel('Email').fill(person.email)
    await page.getByLabel('Password').fill(person.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    const token = await tokenOf(person)
    for (const { page: place, opens, act, forged } of rows) {
      const name = `${role} ${place === '' ? '/' : place}${act === undefined ? '' : `, ${act.name}`}`
      await page.goto(`${casino.baseUrl}/dashboard/test${place}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      const isClosed = page.getByRole('heading', { name: 'Not for your role' })
      const button = page.getByRole('main').getByRole('button', { name: act?.name ?? '', exact: true })
      if (!opens.includes(role)) {
        await isClosed.waitFor()
        t.equal(await button.count(), 0, `${name}: closed, without a button`)
      } else {
        t.equal(await isClosed.count(), 0, `${name}: open`)
        if (act !== undefined) {
          await button.waitFor()
          t.equal(await button.isEnabled(), act.may.includes(role), `${name}: the button tells the truth`)
        }
      }
      if ((act?.may ?? opens).includes(role)) continue
      const { method, path, body } = forged
      const answer = await send(method, `${api}/${path}`, { token, ...(body === undefined ? {} : { body }) })
      t.match(answer, { status: 403, body: { code: 'FORBIDDEN' } }, `${name}: forged, refused`)
    }
    t.strictSame(complaints, [])
    await close()
  })

async function tokenOf(person: { email: string; password: string }): Promise<string> {
  const { status, body } = await send('POST', `${api}/dashboard/login`, { body: person })
  if (status !== 200) throw new Error(`sign-in answered ${status}: ${JSON.stringify(body)}`)
  return String(body.access_token)
}
