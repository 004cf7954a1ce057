import t from 'tap'
import { z } from 'zod'
import { findBarriers } from './fixtures/find-barriers.ts'
import { shownOnce, signIn } from './fixtures/dashboard-steps.ts'
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
  '/flags',
  '/approvals',
  '/reports?group_by=day,game',
  '/reconciliation',
  '/games',
  '/returns',
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
  await signIn(page, casino.owner)
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
      await signIn(page, casino.owner)
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
