import { gzipSync } from 'node:zlib'
import t from 'tap'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(600_000)
const casino = await startCasino(t)
const games = ['dice', 'mines', 'spin-bottle']
const pageBytesMax = 60 * 1024
const verifyUrl = `${casino.baseUrl}/v1/public/verify`

for (const game of games) {
  t.test(
    `${game} fits a screen of 360 px, stands still when asked to, and loads at most 60 KB`,
    async (t) => {
      const { page, complaints, close } = await casino.window({
        viewport: { width: 360, height: 740 },
        reducedMotion: 'reduce',
        hasTouch: true,
      })
      let bytes = 0
      const origins = new Set<string>()
      page.on('response', (response) => {
        origins.add(new URL(response.url()).origin)
        if (response.url().includes('/v1/')) return
        void response.body().then((body) => {
          bytes += gzipSync(body, { level: 9 }).length
        })
      })
      await page.goto((await casino.seat(game)).url)
      await page.getByTestId('play').click()
      await page.locator('[data-testid=play]:enabled').or(page.getByTestId('cash-out')).first().waitFor()
      const width = await page.evaluate('document.documentElement.scrollWidth')
      t.equal(width, 360, 'nothing to scroll sideways')
      t.strictSame(await findBarriers(page), [])
      await casino.picture(page, `phone-${game}`)
      t.ok(bytes > 10_000 && bytes <= pageBytesMax, `${bytes} bytes`)
      t.strictSame([...origins], [casino.baseUrl], 'nothing from elsewhere')
      t.strictSame(complaints, [])
      await close()
    },
  )
}

t.test('the policy of every page allows nothing inline and nothing from elsewhere', async (t) => {
  for (const url of [...games.map((game) => `${casino.baseUrl}/play/${game}`), verifyUrl]) {
    const policy = (await fetch(url)).headers.get('content-security-policy') ?? ''
    t.match(policy, "default-src 'none'")
    t.notMatch(policy, /unsafe|https?:/)
  }
})

t.test('a game that does not exist says so', async (t) => {
  const { page, close } = await casino.window()
  await page.goto(`${casino.baseUrl}/play/no-such-game#token=abc`)
  await page.getByText('There is no such game here').waitFor()
  t.equal(new URL(page.url()).hash, '')
  t.strictSame(await findBarriers(page), [])
  await close()
})

t.test('the verify page shows every check and every step of the draw, and sends nothing', async (t) => {
  const { page, complaints, close } = await casino.window()
  const { call } = await casino.operator.openSession({ player_id: 'prover', game: 'mines', currency: 'USD' })
  const started = await call('POST', '/game/rounds', {
    stake: '1.00',
    bet: { mines: 24 },
    client_seed: 'abc',
  })
  const { body: round } = await call('POST', `/game/rounds/${String(started.body.round_id)}/reveal`, {
    tile: 3,
  })
  await page.goto(verifyUrl)
  t.strictSame(await findBarriers(page), [])
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))

  await page.getByLabel('Round or event, as JSON').fill(JSON.stringify(round))
  await page.getByRole('button', { name: 'Verify' }).click()
  t.match(await page.getByTestId('verdict').textContent(), 'Valid')
  t.equal(await page.getByTestId('draws').locator('tbody tr:not([data-rejected="yes"])').count(), 24)
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'verify-valid')

  await page
    .getByLabel('Round or event, as JSON')
    .fill(JSON.stringify({ type: 'round.completed', data: { ...round, payout: '999.00' } }))
  await page.getByRole('button', { name: 'Verify' }).click()
  t.match(await page.getByTestId('verdict').textContent(), 'Not valid')
  t.match(await page.locator('[data-ok="no"]').textContent(), /payout.*999\.00/)
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'verify-not-valid')

  await page.getByLabel('Round or event, as JSON').fill('{ "round_id":')
  await page.getByRole('button', { name: 'Verify' }).click()
  t.match(await page.getByTestId('verdict').textContent(), 'This is not JSON')
  t.strictSame(asked, [], 'nothing was sent')
  t.strictSame(complaints, [])
  await close()
})

t.test('a played round opens on the verify page with one click', async (t) => {
  const { page, close } = await casino.window()
  await page.goto((await casino.seat('dice')).url)
  await page.getByTestId('play').click()
  await page.getByTestId('verify-last').click()
  const link = await page.getByText('Open on the verify page').getAttribute('href')
  await page.goto(new URL(link ?? '', casino.baseUrl).href)
  t.match(await page.getByTestId('verdict').textContent(), 'Valid')
  await close()
})
