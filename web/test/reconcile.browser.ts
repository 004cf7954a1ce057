import { readFileSync } from 'node:fs'
import { send } from '@pitboss/testing/operator-client'
import t from 'tap'
import { z } from 'zod'
import { signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(300_000)
const casino = await startCasino(t)
const seat = await casino.operator.openSession({ player_id: 'reconciled', game: 'dice', currency: 'USD' })
const bet = { target: '50.00', direction: 'over' }
for (let round = 0; round < 2; round++) await seat.call('POST', '/game/rounds', { stake: '1.00', bet })
const { body: login } = await send('POST', `${casino.baseUrl}/v1/dashboard/login`, { body: casino.owner })
const token = String(login.access_token)
const address = `${casino.baseUrl}/v1/dashboard/transactions?player_id=reconciled&type=BET`
const movements = z
  .object({ data: z.array(z.object({ transaction_id: z.string(), amount: z.string() })) })
  .parse((await send('GET', address, { token })).body).data
const [first, second] = movements.map(({ transaction_id }) => transaction_id)
const today = new Date().toISOString().slice(0, 10)
/** A name that a spreadsheet would take for a formula, and a browser for markup. */
const probe = '=HYPERLINK("http://x","<img src=x onerror=alert(1)>")'
const quoted = `"${probe.replaceAll('"', '""')}"`
const ledger = [
  'transaction_id,type,amount,currency,player_id',
  `${first},BET,7.00,USD,reconciled`,
  `${quoted},BET,1.00,USD,`,
  `${quoted},BET,1.00,USD,`,
  'half a line',
].join('\r\n')

t.test('a ledger is sent, compared and read on the screen', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.goto(`${casino.baseUrl}/dashboard/test/reconciliation?zone=UTC`)
  await signIn(page, casino.owner, 'Reconciliation')
  await page.getByText('No ledger was compared yet').waitFor()
  t.strictSame(await findBarriers(page), [], 'the empty page')
  await page.getByRole('button', { name: 'Compare a ledger' }).click()
  const form = page.getByRole('dialog', { name: 'Compare a TEST ledger' })
  await form.getByRole('button', { name: 'Compare', exact: true }).click()
  await form.getByText('Choose the file of the ledger.').waitFor()
  t.strictSame(await findBarriers(page), [], 'the form')
  await casino.picture(page, 'reconciliation-form')
  const file = (text: string) => ({ name: 'ledger.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  await form.getByLabel('Ledger').setInputFiles(file('no,heading\r\n'))
  await form.getByLabel('First day').fill(today)
  await form.getByLabel('Last day').fill(today)
  await form.getByRole('button', { name: 'Compare', exact: true }).click()
  await form.getByText('must have the column transaction_id in its first line').first().waitFor()
  await form.getByLabel('Ledger').setInputFiles(file(ledger))
  await form.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByText('4 of 4 lines are compared: 0 match').waitFor()
  await page.getByText('DONE').waitFor()
  const different = page.getByRole('region', { name: 'In both, with other values' })
  await different.getByText('amount: ours 1.00, yours 7.00').waitFor()
  const missing = page.getByRole('table', { name: 'In ours, not in your ledger' })
  await missing.getByRole('link', { name: second ?? '' }).waitFor()
  await page.getByRole('table', { name: 'In your ledger, not in ours' }).getByText(probe).waitFor()
  await page.getByRole('table', { name: 'Twice in your ledger' }).getByText(probe).waitFor()
  await page.getByText('has not as many fields as the first line').waitFor()
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [360, 1440]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      t.strictSame(await findBarriers(page), [], `${colorScheme}, ${width} px`)
      const wider = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
      t.equal(wider, 0, `it does not scroll sideways at ${width} px`)
      await casino.picture(page, `reconciliation-${colorScheme}-${width}`)
    }
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV of the differences' }).click(),
  ])
  const csv = readFileSync(await saved.path(), 'utf8')
  t.match(csv, /^\uFEFFkind,transaction_id,line,what,/)
  t.match(csv, /\r\nextra,"'=HYPERLINK/, 'no formula')
  t.notMatch(csv, /(^|,|\n)"?=/)
  await different.getByRole('link', { name: first ?? '' }).click()
  await page.waitForURL(`**/transactions/${first}`)
  await page.getByRole('link', { name: 'Reconciliation', exact: true }).click()
  const list = page.getByRole('region', { name: 'Reconciliation' })
  await list.getByRole('table').getByText('DONE').waitFor()
  const id = (await list.locator('tr[data-id^="rcn_"]').getAttribute('data-id')) ?? ''
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Any id, or a page' }).fill(id)
  await page.getByRole('option').getByText('reconciliation, TEST').waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(`/test/reconciliation/${id}`))
  await page.getByRole('navigation', { name: 'Environment' }).getByRole('link', { name: 'LIVE' }).click()
  await page.getByText('No ledger was compared yet').waitFor()
  t.strictSame(complaints, [])
  await close()
})

t.test('a comparison is cancelled by a button', async (t) => {
  const { page, complaints, close } = await casino.window()
  const line = (at: number) => `{"transaction_id":"gone-${at}","type":"BET","amount":"1.00","currency":"USD"}`
  const rawBody = Array.from({ length: 100_000 }, (_line, at) => line(at)).join('\n')
  const order = `${casino.baseUrl}/v1/dashboard/reports/reconciliation?from=${today}T00:00:00Z&to=${today}T23:00:00Z`
  const headers = { 'content-type': 'application/x-ndjson' }
  await page.goto(`${casino.baseUrl}/dashboard/test/reconciliation`)
  await signIn(page, casino.owner, 'Reconciliation')
  const { status, body } = await send('POST', order, { token, rawBody, headers })
  t.equal(status, 202)
  const id = String(body.reconciliation_id)
  await page.goto(`${casino.baseUrl}/dashboard/test/reconciliation/${id}`)
  await page.getByRole('button', { name: 'Cancel comparison' }).click()
  const ask = page.getByRole('dialog', { name: 'Cancel the comparison' })
  await ask.getByRole('button', { name: 'Cancel comparison' }).click()
  await page.getByText('A person cancelled it; the lines left were not compared.').waitFor()
  t.strictSame(await findBarriers(page), [], 'a cancelled one')
  await casino.picture(page, 'reconciliation-cancelled')
  await page.getByRole('link', { name: 'Back to all' }).click()
  await page.locator(`tr[data-id="${id}"]`).getByText('CANCELLED').waitFor()
  t.strictSame(complaints, [])
  await close()
})
