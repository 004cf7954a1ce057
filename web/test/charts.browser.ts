import { send } from '@pitboss/testing/operator-client'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { z } from 'zod'
import { signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(600_000)
const casino = await startCasino(t)
const dashboard = `${casino.baseUrl}/dashboard`
const login = await send('POST', `${casino.baseUrl}/v1/dashboard/login`, { body: casino.owner })
const token = String(login.body.access_token)
const webhookId = casino.receiver.webhook_id
const pointsSchema = z.object({ points: z.array(z.object({ at: z.string() })) })
const themes = ['light', 'dark'] as const
const widths = [360, 1440] as const

for (const player of ['one', 'two']) {
  const seat = await casino.operator.openSession({ player_id: player, game: 'dice', currency: 'USD' })
  const bet = { target: '98.00', direction: 'under' }
  for (let round = 0; round < 5; round++) await seat.call('POST', '/game/rounds', { stake: '1.00', bet })
}
for (const path of [`webhooks/${webhookId}`, 'wallets/TEST']) {
  await waitFor(
    async () => {
      const { body } = await send('GET', `${casino.baseUrl}/v1/dashboard/${path}/series`, { token })
      return pointsSchema.parse(body).points.length > 0
    },
    { what: `figures of ${path}`, timeoutMs: 90_000, everyMs: 1000 },
  )
}
const fresh = await send('POST', `${casino.baseUrl}/v1/dashboard/webhooks`, {
  token,
  body: { url: 'http://127.0.0.1:9/never', environment: 'TEST', events: ['transaction.rollback'] },
})

for (const colorScheme of themes) {
  for (const width of widths) {
    await t.test(`charts of an endpoint and of a wallet, ${colorScheme}, ${width} px`, async (t) => {
      const { page, complaints, close } = await casino.window({
        colorScheme,
        viewport: { width, height: 900 },
      })
      await page.goto(`${dashboard}/test/wallet`)
      await signIn(page, casino.owner, 'Wallet')
      const places = [
        { place: 'wallet', heading: 'Wallet', title: 'Calls', told: /\d+ calls were acknowledged/ },
        { place: `endpoints/${webhookId}`, title: 'Health', told: /\d+ attempts were accepted/ },
      ]
      for (const { place, title, told } of places) {
        await page.goto(`${dashboard}/test/${place}`)
        const card = page.getByRole('region', { name: title, exact: true })
        await card.getByText(told).waitFor()
        await card.locator('canvas').nth(1).waitFor()
        t.strictSame(await findBarriers(page), [])
        const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
        t.ok(wide <= width, `${place} is ${wide} px wide`)
        await card.scrollIntoViewIfNeeded()
        await casino.picture(page, `charts-${title.toLowerCase()}-${colorScheme}-${width}`)
        await card.getByText('The same as a table').click()
        const rows = page.getByRole('table', { name: `${title}, as a table` }).getByRole('row')
        t.ok((await rows.count()) >= 2, 'what is drawn is a table, too')
        await card.getByRole('radio', { name: 'Week' }).check()
        await page.waitForURL('**span=7d')
        await card.getByText(told).waitFor()
      }
      t.strictSame(complaints, [])
      await close()
    })
  }
}

await t.test('an endpoint without attempts says what brings figures', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.goto(`${dashboard}/test/endpoints/${String(fresh.body.webhook_id)}`)
  await signIn(page, casino.owner, 'Endpoint')
  await page.getByText('No event was sent to this endpoint.').waitFor()
  t.equal(await page.locator('canvas').count(), 0)
  t.strictSame(complaints, [])
  await close()
})
