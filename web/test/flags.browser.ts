import { send } from '@pitboss/testing/operator-client'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(600_000)
const casino = await startCasino(t)
const dashboard = `${casino.baseUrl}/dashboard/test`
/** Markup, and a formula to a spreadsheet. */
const player = '=1+1 <b>lucky</b>'
const narrow = { colorScheme: 'dark', viewport: { width: 360, height: 740 } } as const
const seat = await casino.operator.openSession({ player_id: player, game: 'dice', currency: 'USD' })
const openFlags = `${casino.baseUrl}/v1/dashboard/flags?status=OPEN`
const login = await send('POST', `${casino.baseUrl}/v1/dashboard/login`, { body: casino.owner })
const token = String(login.body.access_token)
const almostSure = { stake: '10.00', bet: { target: '2.00', direction: 'over' } }

for (const { name, options } of [
  { name: 'wide', options: {} },
  { name: 'narrow', options: narrow },
])
  await t.test(`a big win becomes a case that is taken, noted on and closed (${name})`, async (t) => {
    const { page, complaints, close } = await casino.window(options)
    await page.goto(`${dashboard}/flags?status=OPEN`)
    await signIn(page, casino.owner, 'Flags')
    await page.getByRole('button', { name: 'When flags are raised' }).click()
    const form = page.getByRole('dialog', { name: 'When flags are raised in TEST' })
    await form.getByLabel('A win is big from, in USD').fill('much')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText(/must be a decimal string/).waitFor()
    await form.getByLabel('A win is big from, in USD').fill('10')
    await form.getByLabel('Unclear movements of a player').fill('')
    t.strictSame(await findBarriers(page), [])
    await casino.picture(page, `dashboard-flag-rules-${name}`)
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'When flags are raised' }).click()
    t.equal(await form.getByLabel('A win is big from, in USD').inputValue(), '10.00')
    t.equal(await form.getByLabel('Unclear movements of a player').inputValue(), '', 'the rule is off')
    await page.keyboard.press('Escape')

    const list = page.getByRole('table', { name: 'Flags' })
    await waitFor(
      async () => {
        await seat.call('POST', '/game/rounds', almostSure)
        const { body } = await send('GET', openFlags, { token })
        return Array.isArray(body.data) && body.data.length > 0
      },
      { timeoutMs: 60_000, everyMs: 1000, what: 'a win is flagged' },
    )
    await page.goto(dashboard)
    await page.getByText('Flags wait for somebody').waitFor()
    await page.getByRole('link', { name: 'See what they are' }).click()
    await page.getByRole('heading', { name: 'Flags', level: 1 }).waitFor()
    await list.getByRole('link', { name: player }).first().waitFor()
    t.strictSame(await findBarriers(page), [])
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider')
    await casino.picture(page, `dashboard-flags-${name}`)
    await list.getByText('Big win').first().click()
    await page.getByRole('heading', { name: 'Flag', level: 1 }).waitFor()
    await page.getByText('Nobody has written anything yet.').waitFor()
    await page.getByRole('button', { name: 'Take it' }).click()
    await page.getByText('IN REVIEW').waitFor()
    await page.getByLabel('Note', { exact: true }).fill('<i>He</i> plays for years.')
    await page.getByRole('button', { name: 'Add note' }).click()
    await page.getByRole('list', { name: 'Notes' }).getByText('<i>He</i> plays for years.').waitFor()
    t.equal(await page.getByLabel('Note', { exact: true }).inputValue(), '', 'the next note begins empty')
    t.strictSame(await findBarriers(page), [])
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider')
    await casino.picture(page, `dashboard-flag-${name}`)
    await page.getByRole('button', { name: 'Close it' }).click()
    await page.getByText('CLOSED').waitFor()
    await page.getByRole('link', { name: 'The round with its money picture' }).click()
    await page.getByRole('heading', { name: 'Round', level: 1 }).waitFor()
    t.strictSame(complaints, [])
    await close()
  })
