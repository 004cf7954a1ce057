import { send } from '@pitboss/testing/operator-client'
import t from 'tap'
import { signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(600_000)
const casino = await startCasino(t)
const dashboard = `${casino.baseUrl}/dashboard`
const api = `${casino.baseUrl}/v1`
const second = { email: 'second@casino.example', password: 'a sentence is easy to keep' }
const login = await send('POST', `${api}/dashboard/login`, { body: casino.owner })
const token = String(login.body.access_token)
const made = await send('POST', `${api}/dashboard/users`, {
  token,
  body: { ...second, name: 'Second', role: 'ADMIN' },
})
const narrow = { colorScheme: 'dark', viewport: { width: 360, height: 740 } } as const

await t.test('a grave act waits until a second person has looked at it and approves', async (t) => {
  t.equal(made.status, 201)
  const first = await casino.window(narrow)
  const other = await casino.window()
  const { page } = other
  await page.goto(`${dashboard}/test/business`)
  await signIn(page, casino.owner, 'Business')
  await page.getByRole('button', { name: 'Want a second person' }).click()
  const confirm = page.getByRole('dialog', { name: 'Want a second person' })
  await confirm.getByRole('button', { name: 'Want a second person' }).click()
  await page.getByRole('button', { name: 'Do without a second person' }).waitFor()
  t.strictSame(await findBarriers(page), [])

  const asker = first.page
  await asker.goto(`${dashboard}/test/games`)
  await signIn(asker, second, 'Games')
  await asker.getByRole('button', { name: 'Change Dice' }).click()
  const form = asker.getByRole('dialog', { name: 'Dice' })
  await form.getByLabel('Players can play it').uncheck()
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText(/Nothing was done yet/).waitFor()
  t.strictSame(await findBarriers(asker), [])
  await casino.picture(asker, 'dashboard-approval-needed-narrow')
  await form.getByRole('link', { name: 'See it under Approvals' }).click()
  await asker.getByRole('heading', { name: 'Approval', level: 1 }).waitFor()
  const own = asker.getByRole('button', { name: 'Approve' })
  await own.waitFor()
  t.equal(await own.isEnabled(), false, 'who asked cannot approve')
  await asker.getByText('You have asked for it; somebody else has to approve it.').waitFor()
  t.strictSame(await findBarriers(asker), [])
  t.ok(await asker.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider')
  await casino.picture(asker, 'dashboard-approval-narrow')

  await page.goto(`${dashboard}/test`)
  await page.getByText(/has asked: Switch the game dice off/).waitFor()
  await page.getByRole('link', { name: 'Look and decide' }).click()
  await page.getByRole('table', { name: 'What changes' }).getByText('enabled').waitFor()
  await casino.picture(page, 'dashboard-approval-wide')
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('button', { name: 'Approve and do it' }).click()
  await page.getByText('It is approved and was done.').waitFor()
  t.strictSame(await findBarriers(page), [])
  await asker.getByText('It is approved and was done.').waitFor()
  const { body } = await send('GET', `${api}/dashboard/games`, { token })
  t.match(body.data, [{ slug: 'dice', enabled: false }])
  await page.getByRole('link', { name: 'Approvals', exact: true }).click()
  await page.getByRole('table', { name: 'Approvals' }).getByText('DONE').waitFor()
  await casino.picture(page, 'dashboard-approvals-wide')
  await page.goto(`${dashboard}/test/audit?act=game.change`)
  await page.getByText(/second@casino.example, approved by/).waitFor()

  await page.goto(`${dashboard}/live/wallet`)
  const read = await send('GET', `${api}/dashboard/wallets/LIVE`, { token })
  const { url, timeout_ms, settle_losses } = read.body
  const moved = { url: `${String(url)}/moved`, timeout_ms, settle_losses }
  const put = await send('PUT', `${api}/dashboard/wallets/LIVE`, { token, body: moved })
  t.match(put, { status: 409, body: { code: 'APPROVAL_NEEDED' } })
  await asker.goto(`${dashboard}/live`)
  await asker.getByText(/Change the address of the LIVE wallet/).waitFor()
  await asker.getByRole('link', { name: 'Look and decide' }).click()
  await asker.getByRole('button', { name: 'Approve' }).click()
  await asker.getByRole('button', { name: 'Approve and do it' }).click()
  await asker.getByText('It is approved and was done.').waitFor()
  const now = await send('GET', `${api}/dashboard/wallets/LIVE`, { token })
  t.equal(now.body.url, moved.url)
  t.strictSame([...first.complaints, ...other.complaints], [])
  await first.close()
  await other.close()
})
