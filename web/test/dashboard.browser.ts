import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(600_000)
const casino = await startCasino(t)
const dashboard = `${casino.baseUrl}/dashboard`

const places = [
  '',
  '/keys',
  '/endpoints',
  '/deliveries',
  '/events',
  '/wallet',
  '/requests',
  '/sessions',
  '/rounds',
  '/transactions',
  '/player?player_id=player-of-the-lists',
  '/fairness?player_id=player-of-the-lists&game=dice',
  '/free-bets',
  '/people',
  '/audit',
  '/business',
  '/account',
]
const listed = new Set([
  '/keys',
  '/endpoints',
  '/deliveries',
  '/events',
  '/sessions',
  '/rounds',
  '/transactions',
])
const madeSchema = z.object({ dashboard: z.object({ email: z.string(), password: z.string() }) })

type Person = { email: string; password: string }
type Suite = { teardown(fn: () => void): void; equal(found: unknown, wanted: unknown, message: string): void }

async function signIn(page: Page, { email, password }: Person = casino.owner, then = 'Home'): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: then, level: 1 }).waitFor()
}

/** The secret on the screen; after "I have stored it" the page holds it no more. */
async function shownOnce(t: Suite, page: Page): Promise<string> {
  const secret = (await page.getByTestId('secret').last().textContent()) ?? ''
  await page.keyboard.press('Escape')
  t.equal(await page.getByTestId('secret').last().textContent(), secret, 'a slip does not lose it')
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await page.getByTestId('secret').first().waitFor({ state: 'detached' })
  t.equal((await page.content()).includes(secret), false, 'the page holds the secret no more')
  return secret
}

/** A receiver of the operator that takes everything. */
async function startReceiver(t: Suite) {
  const types: string[] = []
  const server = createServer((request, response) => {
    types.push(String(request.headers['x-svc-event-type']))
    request.resume().on('end', () => response.writeHead(204).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  // Safe: a server that listens on an address has one.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, types: () => types }
}

t.test('a person signs in, stays signed in over a reload, and signs out', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.goto(dashboard)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-sign-in')
  await page.getByLabel('Email').fill(casino.owner.email)
  await page.getByLabel('Password').fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('INVALID_CREDENTIALS').waitFor()
  await signIn(page)
  t.equal(new URL(page.url()).pathname, '/dashboard/test')
  await page.reload()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-home')
  await page.getByRole('link', { name: 'My account' }).click()
  await page.getByRole('heading', { name: 'My account' }).waitFor()
  await page.getByText('THIS ONE').waitFor()
  await casino.picture(page, 'dashboard-account')
  t.strictSame(await findBarriers(page), [])
  await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out.').waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  t.strictSame(complaints, [])
  await close()
})

t.test('a key, an endpoint, a test delivery and a replay, by what the screen says', async (t) => {
  await casino.seat('dice')
  const receiver = await startReceiver(t)
  const { page, complaints, close } = await casino.window()
  await page.goto(dashboard)
  await signIn(page)

  await page.getByRole('link', { name: 'Keys', exact: true }).click()
  await page.getByRole('button', { name: 'Create key' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Name').fill('Lobby server')
  await form.getByText('Only this').click()
  await form.getByText('Open sessions for players and close them').click()
  await casino.picture(page, 'dashboard-new-key')
  t.strictSame(await findBarriers(page), [])
  await form.getByRole('button', { name: 'Create key' }).click()
  const secret = await shownOnce(t, page)
  t.match(secret, /^cs_test_[0-9A-Za-z]{40}$/)
  await page.getByRole('link', { name: 'Lobby server' }).click()
  await page.getByRole('heading', { name: 'Lobby server' }).waitFor()
  await casino.picture(page, 'dashboard-key')
  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  t.not(await shownOnce(t, page), secret)

  await page.getByRole('link', { name: 'Endpoints', exact: true }).click()
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await form.getByLabel('URL').fill('not an address')
  await form.getByRole('button', { name: 'Create endpoint' }).click()
  await form.getByText('VALIDATION_ERROR').waitFor()
  await form.getByLabel('URL').fill(receiver.url)
  await form.getByLabel('Description').fill('Story receiver')
  await casino.picture(page, 'dashboard-new-endpoint')
  await form.getByRole('button', { name: 'Create endpoint' }).click()
  t.match(await shownOnce(t, page), /^whsec_[0-9A-Za-z]{32}$/)
  await page.getByRole('heading', { name: 'Story receiver' }).waitFor()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Test delivered: the receiver answered 204.').waitFor()
  t.equal(receiver.types()[0], 'webhook.test')
  await casino.picture(page, 'dashboard-endpoint')

  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Preview' }).click()
  t.match(await page.getByTestId('preview').textContent(), /^[1-9][0-9]* events? match/)
  await casino.picture(page, 'dashboard-replay-preview')
  await page.getByRole('button', { name: 'Start replay' }).click()
  await page.getByRole('heading', { name: 'Replay', level: 1 }).waitFor()
  await page.getByText('DONE').waitFor()
  t.ok(receiver.types().includes('game.session.created'))
  await casino.picture(page, 'dashboard-replay')

  await page.getByRole('link', { name: 'Deliveries', exact: true }).click()
  await page.getByLabel('Event', { exact: true }).selectOption('webhook.test')
  await page.waitForURL('**/deliveries?event_type=webhook.test')
  await page.getByRole('link', { name: 'webhook.test' }).first().click()
  await page.getByRole('button', { name: 'Retry now' }).click()
  await page.getByText('Attempt 2 has ended').waitFor()
  await casino.picture(page, 'dashboard-delivery')
  t.strictSame(complaints, [])
  await close()
})

t.test('an invited VIEWER sets a password, reads, and sees why the rest is closed', async (t) => {
  const owner = await casino.window()
  await owner.page.goto(`${dashboard}/test/people`)
  await signIn(owner.page, casino.owner, 'People')
  await owner.page.getByRole('button', { name: 'Invite' }).click()
  const email = `viewer-${Date.now()}@casino.example`
  await owner.page.getByRole('dialog').getByLabel('Email').fill(email)
  await owner.page.getByRole('dialog').getByLabel('Name').fill('Vera')
  await owner.page.getByRole('button', { name: 'Create invitation' }).click()
  const link = await shownOnce(t, owner.page)
  await owner.close()

  const { page, complaints, close } = await casino.window()
  await page.goto(link)
  await page.getByRole('heading', { name: 'Accept your invitation' }).waitFor()
  t.equal(new URL(page.url()).hash, '', 'the token is gone from the address')
  await casino.picture(page, 'dashboard-invitation')
  t.strictSame(await findBarriers(page), [])
  await page.getByLabel('Password').fill('short')
  await page.getByRole('button', { name: 'Set password and sign in' }).click()
  await page.getByText('must have 12 to 128 characters').waitFor()
  await page.getByLabel('Password').fill('a sentence is easy to keep')
  await page.getByRole('button', { name: 'Set password and sign in' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByText('Your role is VIEWER. This is for OWNER, ADMIN, and DEVELOPER.').waitFor()
  await casino.picture(page, 'dashboard-closed')
  await page.goto(`${dashboard}/test/deliveries`)
  await page.getByRole('table', { name: 'Deliveries' }).getByRole('link').first().click()
  const retry = page.getByRole('button', { name: 'Retry now' })
  await retry.waitFor()
  t.ok(await retry.isDisabled())
  await page.getByText('This is for OWNER, ADMIN, DEVELOPER, and SUPPORT.').waitFor()
  t.strictSame(complaints, [])
  await close()
})

t.test('a handed-out password has to be changed first', async (t) => {
  const made = await casino.ops('operator', 'create', '--name', 'Second', '--email', 'second@casino.example')
  const { dashboard: person } = madeSchema.parse(made)
  const { page, complaints, close } = await casino.window()
  await page.goto(dashboard)
  await signIn(page, person, 'Choose a password of your own')
  await casino.picture(page, 'dashboard-forced-password')
  t.strictSame(await findBarriers(page), [])
  await page.getByLabel('Current password').fill(person.password)
  await page.getByLabel('New password').fill('a sentence of my own')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  await page.getByText('First steps in TEST').waitFor()
  await casino.picture(page, 'dashboard-first-steps')
  t.strictSame(complaints, [])
  await close()
})

t.test('an account in LIVE says so in word, colour and address', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.goto(`${dashboard}/test/rounds`)
  await signIn(page, casino.owner, 'Rounds')
  const colour = () => page.evaluate("getComputedStyle(document.querySelector('.shell')).borderTopColor")
  const test = await colour()
  await page.getByRole('navigation', { name: 'Environment' }).getByRole('link', { name: 'LIVE' }).click()
  await page.waitForURL('**/dashboard/live/rounds')
  t.not(await colour(), test)
  t.match(await page.title(), 'LIVE')
  t.strictSame(complaints, [])
  await close()
})

const player = await casino.operator.openSession({
  player_id: 'player-of-the-lists',
  game: 'dice',
  currency: 'USD',
})
const played = await player.call('POST', '/game/rounds', {
  stake: '1.00',
  bet: { target: '50.00', direction: 'over' },
})
t.equal(played.status, 201, 'the lists hold a round')

for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [360, 1440])
    t.test(`every page is free of barriers, ${colorScheme}, ${width} px`, async (t) => {
      const { page, complaints, close } = await casino.window({
        colorScheme,
        viewport: { width, height: 900 },
      })
      await page.goto(dashboard)
      await signIn(page)
      for (const place of places) {
        await page.goto(`${dashboard}/test${place}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('networkidle')
        t.strictSame(await findBarriers(page), [], place)
        const wider = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
        t.equal(wider, 0, `${place} does not scroll sideways`)
        const name = `dashboard${(place.split('?')[0] ?? '').replaceAll('/', '-')}`
        await casino.picture(page, `${name}-${colorScheme}-${width}`)
        const first = page.getByRole('main').getByRole('table').first().locator('tbody td a').first()
        if (!listed.has(place) || (await first.count()) === 0) continue
        await first.click()
        await page.waitForURL((url) => url.pathname !== `/dashboard/test${place}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('networkidle')
        t.strictSame(await findBarriers(page), [], `one of ${place}`)
        await casino.picture(page, `${name}-one-${colorScheme}-${width}`)
      }
      t.strictSame(complaints, [])
      await close()
    })
