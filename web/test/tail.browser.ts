import { send } from '@pitboss/testing/operator-client'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(600_000)
const casino = await startCasino(t, ['--replicas', 'gateway=2'])
const dashboard = `${casino.baseUrl}/dashboard`
const seat = await casino.operator.openSession({ player_id: 'followed', game: 'dice', currency: 'USD' })
const play = () =>
  seat.call('POST', '/game/rounds', { stake: '1.00', bet: { target: '98.00', direction: 'under' } })
const lists = [
  { place: 'events', heading: 'Events', label: 'Events', shows: 'round.completed' },
  { place: 'deliveries', heading: 'Deliveries', label: 'Deliveries', shows: 'DELIVERED' },
  { place: 'transactions', heading: 'Transactions', label: 'Movements', shows: 'followed' },
  { place: 'requests', heading: 'Requests', label: 'Requests', shows: '/v1/rounds' },
] as const
const looks = [
  { colorScheme: 'light', width: 1440 },
  { colorScheme: 'dark', width: 360 },
] as const

for (const { colorScheme, width } of looks) {
  await t.test(`each list can be followed, ${colorScheme}, ${width} px`, async (t) => {
    const { page, complaints, close } = await casino.window({ colorScheme, viewport: { width, height: 900 } })
    await page.goto(`${dashboard}/test/events`)
    await signIn(page, casino.owner, 'Events')
    for (const { place, heading, label, shows } of lists) {
      await page.goto(`${dashboard}/test/${place}`)
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      await page.getByRole('button', { name: 'Follow', exact: true }).click()
      await page.getByText('Live: what happens from now on').waitFor()
      await play()
      await casino.operator.call('GET', '/rounds')
      const live = page.getByRole('table', { name: `${label} as they happen` })
      await live.getByText(shows).first().waitFor()
      t.strictSame(await findBarriers(page), [])
      const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
      t.ok(wide <= width, `${place} is ${wide} px wide`)
      await casino.picture(page, `tail-${place}-${colorScheme}-${width}`)
      await page.getByRole('button', { name: 'Stop following' }).click()
      await live.waitFor({ state: 'detached' })
    }
    t.strictSame(complaints, [])
    await close()
  })
}

await t.test('rows hold still under the pointer, and come when it leaves', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.goto(`${dashboard}/test/events`)
  await signIn(page, casino.owner, 'Events')
  await page.getByRole('button', { name: 'Follow', exact: true }).click()
  await page.getByText('Live: what happens from now on').waitFor()
  await play()
  const live = page.getByRole('table', { name: 'Events as they happen' })
  await live.getByText('round.completed').first().waitFor()
  await live.getByRole('row').nth(1).hover()
  const before = await live.getByRole('row').count()
  await play()
  await page.getByText(/Paused: \d+ more/).waitFor()
  t.equal(await live.getByRole('row').count(), before)
  await page.getByRole('heading', { name: 'Events', level: 1 }).hover()
  await waitFor(async () => (await live.getByRole('row').count()) > before, { what: 'the rows come' })
  t.strictSame(complaints, [])
  await close()
})

await t.test('a page that follows has 200 rows at most, and play goes on', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.goto(`${dashboard}/test/events`)
  await signIn(page, casino.owner, 'Events')
  await page.getByRole('button', { name: 'Follow', exact: true }).click()
  await page.getByText('Live: what happens from now on').waitFor()
  for (let round = 0; round < 60; round++) t.equal((await play()).status, 201)
  await waitFor(async () => (await page.getByRole('row').count()) >= 100, {
    what: 'many rows',
  })
  t.ok((await page.locator('tbody tr').count()) <= 200)
  t.strictSame(complaints, [])
  await close()
})

await t.test('a tail ends with its session, and the page asks who is there', async (t) => {
  const { page, close } = await casino.window()
  await page.goto(`${dashboard}/test/events`)
  await signIn(page, casino.owner, 'Events')
  await page.getByRole('button', { name: 'Follow', exact: true }).click()
  await page.getByText('Live: what happens from now on').waitFor()
  const login = await send('POST', `${casino.baseUrl}/v1/dashboard/login`, { body: casino.owner })
  const token = String(login.body.access_token)
  const { body } = await send('GET', `${casino.baseUrl}/v1/dashboard/me/sessions`, { token })
  const others = (body.data as { session_id: string; current: boolean }[]).filter(({ current }) => !current)
  for (const { session_id } of others)
    await send('DELETE', `${casino.baseUrl}/v1/dashboard/me/sessions/${session_id}`, { token })
  await page.getByLabel('Password').waitFor()
  t.equal(others.length > 0, true)
  await close()
})
