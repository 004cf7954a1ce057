import t from 'tap'
import type { Page } from 'playwright-core'
import { findBarriers } from './fixtures/find-barriers.ts'
import { returnUrl, startCasino } from './fixtures/start-casino.ts'

t.setTimeout(600_000)
const casino = await startCasino(t)
const status = (page: Page) => page.getByTestId('status')
const ended = (page: Page) => page.getByTestId('verify-last').waitFor()

/** Verifies the last round in its dialog, as a player does. */
async function verifyLast(page: Page) {
  await page.getByTestId('verify-last').click()
  const verdict = await page.getByTestId('verdict').textContent()
  const checks = await page.getByTestId('checks').textContent()
  return { verdict, checks }
}

for (const game of ['dice', 'spin-bottle']) {
  t.test(`a round of ${game} is played, paid and verified in the browser`, async (t) => {
    const { page, complaints, close } = await casino.window()
    await page.goto((await casino.seat(game)).url)
    await page.getByTestId('play').waitFor()
    t.equal(new URL(page.url()).hash, '', 'the token is gone from the address bar')
    const commitment = await page.getByTestId('commitment').textContent()
    await page.getByTestId('play').click()
    await ended(page)
    t.match(await status(page).textContent(), /You won|No win/)
    t.not(await page.getByTestId('balance').textContent(), '1,000.00 USD')
    await casino.picture(page, `play-${game}`)
    t.strictSame(await findBarriers(page), [])
    const { verdict, checks } = await verifyLast(page)
    t.match(verdict, 'Verified')
    t.match(checks, 'commitment as shown before the bet')
    t.match(checks, commitment ?? 'a commitment')
    t.strictSame(await findBarriers(page), [])
    await casino.picture(page, `proof-${game}`)
    t.strictSame(complaints, [])
    await close()
  })
}

t.test('a round of mines goes on where it was after the page was opened anew', async (t) => {
  const { page, complaints, close } = await casino.window()
  const { url, playerId } = await casino.seat('mines')
  await page.goto(url)
  await page.getByLabel('1 mine', { exact: true }).check({ force: true })
  const tiles: number[] = []
  // One mine: some tile of a few is safe, and a round that hits the mine is simply played again.
  for (let attempt = 0; attempt < 20 && tiles.length < 3; attempt++) {
    if ((await page.getByTestId('cash-out').count()) === 0) {
      tiles.length = 0
      await page.getByTestId('play').click()
      await page.getByTestId('cash-out').waitFor()
    }
    const tile = 6 + tiles.length
    await page.locator(`[data-tile="${tile}"]`).click()
    await page.locator(`[data-tile="${tile}"]:not([data-face="closed"]):not([data-face="opening"])`).waitFor()
    if ((await page.locator(`[data-tile="${tile}"]`).getAttribute('data-face')) === 'gem') tiles.push(tile)
    else await ended(page)
  }
  t.equal(tiles.length, 3)
  t.not(await page.getByTestId('balance').textContent(), '1,000.00 USD', 'the stake has left the balance')
  await casino.picture(page, 'play-mines')
  t.strictSame(await findBarriers(page), [])

  await page.reload()
  await page.getByText('Open the game again from your casino').waitFor()
  t.strictSame(await findBarriers(page), [], 'without its token the page says what to do')
  await casino.picture(page, 'open-again')

  const again = await casino.seat('mines', playerId)
  await page.goto(again.url)
  await page.getByTestId('cash-out').waitFor()
  for (const tile of tiles)
    t.equal(await page.locator(`[data-tile="${tile}"]`).getAttribute('data-face'), 'gem')
  t.match(await status(page).textContent(), '3 safe tiles')
  await page.getByTestId('cash-out').click()
  await ended(page)
  t.match(await status(page).textContent(), /Cashed out after 3 safe tiles\. You won/)
  t.match((await verifyLast(page)).verdict, 'Verified')
  await casino.picture(page, 'proof-mines')
  t.strictSame(complaints, [])
  await close()
})

t.test('the board is played with the keyboard alone', async (t) => {
  const { page, close } = await casino.window()
  await page.goto((await casino.seat('mines')).url)
  await page.getByLabel('Stake', { exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByTestId('cash-out').waitFor()
  await page.locator('[data-tile="12"]').focus()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowRight')
  t.equal(await page.evaluate('document.activeElement.dataset.tile'), '8')
  await page.keyboard.press('Space')
  await page.locator('[data-tile="8"]:not([data-face="closed"]):not([data-face="opening"])').waitFor()
  await close()
})

t.test('a bet whose answer the wallet loses is confirmed, and taken once', async (t) => {
  const { page, complaints, close } = await casino.window()
  const { url, playerId } = await casino.seat('dice')
  await casino.walletFaults([
    { operation: 'debit', player_id: playerId, kind: 'drop', apply: true, count: 1 },
  ])
  await page.goto(url)
  await page.getByTestId('play').click()
  await page.getByText('Your bet is being confirmed').waitFor()
  t.ok(await page.getByTestId('play').isDisabled(), 'no second bet meanwhile')
  await casino.picture(page, 'confirming')
  await ended(page)
  const balance = await page.getByTestId('balance').textContent()
  t.ok(['999.00 USD', '1,000.98 USD'].includes(balance ?? ''), `one stake of 1.00, balance ${balance}`)
  t.strictSame(complaints, [])
  await close()
})

t.test(
  'a wallet that does not answer: the player waits, and keeps the stake of a bet that was cancelled',
  async (t) => {
    const { page, close } = await casino.window()
    const { url, playerId } = await casino.seat('dice')
    await casino.walletFaults([
      { operation: 'debit', player_id: playerId, kind: 'hang' },
      { operation: 'rollback', player_id: playerId, kind: 'hang' },
    ])
    await page.goto(url)
    await page.getByTestId('play').click()
    const timedOut = await page.waitForResponse((response) => response.request().method() === 'POST', {
      timeout: 25_000,
    })
    t.equal(timedOut.status(), 504)
    await page.getByText('Your bet is being confirmed').waitFor()
    t.strictSame(await findBarriers(page), [])
    const another = await casino.window()
    await another.page.goto((await casino.seat('dice', playerId)).url)
    await another.page.getByText('Your bet is being confirmed').waitFor()
    await casino.walletFaults([])
    await page.getByText(/was cancelled|You won|No win/).waitFor({ timeout: 120_000 })
    await page.getByTestId('play').and(page.locator(':enabled')).waitFor()
    await another.close()
    await close()
  },
)

t.test('a free bet is offered, played without touching the balance, and its win is paid', async (t) => {
  const { page, complaints, close } = await casino.window()
  const { url, playerId } = await casino.seat('dice')
  const granted = await casino.operator.call('POST', '/free-bets', {
    player_id: playerId,
    game: 'dice',
    currency: 'USD',
    stake: '5.00',
    count: 20,
  })
  t.equal(granted.status, 201)
  await page.goto(url)
  await page.getByText('20 left at 5.00 USD').waitFor()
  await page.getByText('Use a free bet').click()
  t.equal(await page.getByLabel('Stake', { exact: true }).inputValue(), '5.00')
  await page.getByRole('textbox', { name: 'Target' }).fill('1.99')
  t.match(await page.getByTestId('play').textContent(), 'free bet')
  await casino.picture(page, 'free-bet')
  // Of 10,000 rolls 9,800 win: twenty free bets that all lose do not happen.
  for (let bet = 1; bet <= 20; bet++) {
    await page.getByTestId('play').click()
    await page
      .getByText(bet === 20 ? 'free bet' : `${20 - bet} left at 5.00 USD`)
      .first()
      .waitFor()
    await ended(page)
    if (/You won/.test((await status(page).textContent()) ?? '')) break
    t.equal(await page.getByTestId('balance').textContent(), '1,000.00 USD', 'a lost free bet takes nothing')
  }
  t.match(await status(page).textContent(), /You won 5\.05 USD/)
  t.equal(await page.getByTestId('balance').textContent(), '1,005.05 USD', 'the win is paid, no stake taken')
  t.match(await page.getByTestId('history').textContent(), 'free bet')
  t.match((await verifyLast(page)).verdict, 'Verified')
  t.strictSame(await findBarriers(page), [])
  t.strictSame(complaints, [])
  await close()
})

t.test('a casino that is suspended takes no bet, and its players are told so', async (t) => {
  const { page, close } = await casino.window()
  await page.goto((await casino.seat('dice')).url)
  await page.getByTestId('play').waitFor()
  await casino.ops('operator', 'set', casino.operatorId, '--suspended', 'yes')
  t.teardown(() => casino.ops('operator', 'set', casino.operatorId, '--suspended', 'no'))
  const refused = page.getByText('This casino cannot offer games at the moment.')
  for (let look = 0; look < 50 && (await refused.count()) === 0; look++) {
    await page.getByTestId('play').and(page.locator(':enabled')).click()
    await refused.or(page.getByTestId('verify-last')).first().waitFor()
  }
  await refused.waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'suspended')
  await casino.ops('operator', 'set', casino.operatorId, '--suspended', 'no')
  await close()
})

t.test('a stake that the balance does not cover is refused in plain words', async (t) => {
  const { page, close } = await casino.window()
  await page.goto((await casino.seat('dice', `broke-${Date.now()}`)).url)
  await page.getByTestId('play').click()
  await page.getByText('Your balance is too low for this stake. Nothing was taken.').waitFor()
  t.equal(await page.getByTestId('nonce').textContent(), '2', 'the refused round keeps its nonce')
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'refused')
  await close()
})

t.test('a session that was closed takes no bet and shows the way back', async (t) => {
  const { page, close } = await casino.window()
  const { url, sessionId } = await casino.seat('dice')
  await page.goto(url)
  await page.getByTestId('play').waitFor()
  await casino.operator.call('POST', `/sessions/${sessionId}/close`)
  await page.getByTestId('play').click()
  await page.getByTestId('session-ended').waitFor()
  t.match(await page.getByTestId('session-ended').textContent(), 'This session was closed')
  t.equal(await page.getByText('Back to the casino').getAttribute('href'), returnUrl)
  t.ok(await page.getByTestId('play').isDisabled())
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'session-closed')
  await close()
})

t.test('a session counts down and ends by itself', async (t) => {
  const { page, close } = await casino.window()
  await page.clock.install()
  await page.goto((await casino.seat('dice')).url)
  await page.getByTestId('play').waitFor()
  await page.clock.fastForward('57:00')
  await page.getByText(/This session ends in [12]:/).waitFor()
  await page.clock.fastForward('04:00')
  await page.getByText('This session has ended').waitFor()
  t.ok(await page.getByTestId('play').isDisabled())
  await close()
})
