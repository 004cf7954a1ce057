import t from 'tap'
import { signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(300_000)
const casino = await startCasino(t)
const dashboard = `${casino.baseUrl}/dashboard/test`
const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [360, 1440].map((width) => ({ colorScheme, width })),
)

t.test('a wallet is certified by a button, and the report is read on the screen', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.goto(`${dashboard}/wallet`)
  await signIn(page, casino.owner, 'Wallet')
  await page.getByText('None yet. A certification tries every case of the contract.').waitFor()
  const certify = async (player: string) => {
    await page.getByRole('button', { name: 'Certify' }).click()
    const form = page.getByRole('dialog', { name: 'Certify the TEST wallet' })
    await form.getByLabel('Test player').fill(player)
    t.strictSame(await findBarriers(page), [], 'the form')
    return form
  }
  const wrong = await certify('')
  await wrong.getByRole('button', { name: 'Certify', exact: true }).click()
  await wrong.getByText(/Too small/).waitFor()
  await wrong.getByLabel('Test player').fill('certified')
  await wrong.getByRole('button', { name: 'Certify', exact: true }).click()
  await page.getByRole('heading', { name: 'Certification', level: 1 }).waitFor()
  await page.getByText('The wallet is certified.').waitFor({ timeout: 90_000 })
  await page.getByText('idempotency: 9 passed').click()
  const table = page.getByRole('table', { name: 'Cases of idempotency' })
  const row = table.getByRole('row', { name: /The same debit sent twice is taken once/ })
  await row.getByText('What was sent and what came back').click()
  const exchanges = (await row.getByLabel(/^Exchanges/).textContent()) ?? ''
  t.match(exchanges, /POST \/debit\n/)
  t.match(exchanges, /x-signature: \[signature of 64 characters\]/)
  t.match(exchanges, /← 200, after \d+ ms/)
  t.notMatch(exchanges, /[0-9a-f]{64}/, 'no signature')
  for (const { colorScheme, width } of looks) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    t.strictSame(await findBarriers(page), [], `${colorScheme}, ${width} px`)
    const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
    t.ok(wide <= width, `${wide} of ${width} px`)
    await casino.picture(page, `certified-${colorScheme}-${width}`)
  }

  await page.setViewportSize({ width: 360, height: 500 })
  await page.evaluate('window.scrollTo(0, 300)')
  await page.getByRole('link', { name: 'Back to the wallet' }).dispatchEvent('click')
  await page.getByRole('table', { name: 'Certifications' }).getByText('CERTIFIED').waitFor()
  t.equal(await page.evaluate('window.scrollY'), 0, 'another page begins at its top')
  await page.setViewportSize({ width: 1180, height: 860 })
  const blocked = await certify('blocked')
  await blocked.getByRole('button', { name: 'Certify', exact: true }).click()
  await page.getByText('NOT CERTIFIED').waitFor({ timeout: 90_000 })
  const failed = page.getByRole('region', { name: 'The test player exists and owns at least 100 units' })
  await failed.getByText(/^Why it matters: .+/).waitFor()
  await failed.getByText(/^What to do: Name a player/).waitFor()
  t.strictSame(await findBarriers(page), [], 'a report of failures')
  await casino.picture(page, 'not-certified')
  await page.goto(`${casino.baseUrl}/dashboard/live/wallet`)
  await page.getByRole('heading', { name: 'Wallet', level: 1 }).waitFor()
  t.strictSame(complaints, [])
  await close()
})

t.test('a receiver is certified by a button', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.goto(`${dashboard}/endpoints`)
  await signIn(page, casino.owner, 'Endpoints')
  await page.locator('tr[data-id^="whe_"] a').first().click()
  await page.getByText('None yet. A certification tries every case of the contract.').waitFor()
  await page.getByRole('button', { name: 'Certify' }).click()
  const ask = page.getByRole('dialog', { name: 'Certify the receiver' })
  t.strictSame(await findBarriers(page), [], 'the question')
  await ask.getByRole('button', { name: 'Certify', exact: true }).click()
  await page.getByText('The receiver is certified.').waitFor({ timeout: 90_000 })
  await page.getByText(/^refuses: 10 passed$/).waitFor()
  t.strictSame(await findBarriers(page), [], 'the report')
  await casino.picture(page, 'receiver-certified')
  await page.getByRole('link', { name: 'Back to the endpoint' }).click()
  await page.getByRole('table', { name: 'Certifications' }).getByText('CERTIFIED').waitFor()
  await casino.picture(page, 'endpoint-certifications')
  t.strictSame(complaints, [])
  await close()
})
