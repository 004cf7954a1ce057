import { bookPage } from '../dashboard/src/fairness/recompute.ts'
import { send } from '@pitboss/testing/operator-client'
import type { Page } from 'playwright-core'
import { stopRecordType } from '@pitboss/contracts/token-claims'
import { openRecord } from '@pitboss/testing/open-record'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { waitFor } from '@pitboss/testing/wait-for'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(600_000)
const casino = await startCasino(t)
const dashboard = `${casino.baseUrl}/dashboard/test`
/** Characters that mean something in an address, and markup. */
const player = 'p/1 ?&#%25 <b>é'
const named = `player_id=${encodeURIComponent(player)}`
const dark = { colorScheme: 'dark', viewport: { width: 360, height: 740 } } as const

const seat = await casino.operator.openSession({ player_id: player, game: 'dice', currency: 'USD' })
for (let bet = 1; bet <= 5; bet++)
  await seat.call('POST', '/game/rounds', { stake: '1.00', bet: { target: '50.00', direction: 'over' } })
await seat.call('GET', '/game/session')

async function signIn(page: Page, place: string, heading: string): Promise<void> {
  await page.goto(`${dashboard}${place}`)
  await page.getByLabel('Email').fill(casino.owner.email)
  await page.getByLabel('Password').fill(casino.owner.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
}

await t.test('a player is found by any id, and the book is computed again in the page', async (t) => {
  const { page, complaints, close } = await casino.window()
  await signIn(page, '', 'Home')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Any id, or a page' }).fill(player)
  await page.getByRole('option', { name: /player, TEST/ }).click()
  await page.getByRole('region', { name: 'Player', exact: true }).getByText(player).waitFor()
  await page.getByRole('table', { name: 'Sums' }).getByText('5.00').waitFor()
  const rounds = page.getByRole('table', { name: 'Rounds' }).getByRole('row')
  await rounds.nth(1).waitFor()
  t.equal(await rounds.count(), 6)
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-player')

  await page.getByRole('link', { name: 'Book of nonces' }).click()
  const book = page.getByRole('table', { name: 'Nonces' })
  await book.getByText('SHOWN').waitFor()
  t.equal(await book.getByRole('row').count(), 7)
  await page.getByRole('button', { name: 'Compute again' }).click()
  await page
    .getByText('All 6 nonces: 5 rounds verify, 0 mismatches, 0 gaps, 1 not over yet. Nothing is missing')
    .waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-fairness')

  await page.getByLabel('From nonce').fill('2')
  await page.getByLabel('From nonce').press('Enter')
  await page.getByLabel('To nonce').fill('3')
  await page.getByLabel('To nonce').press('Enter')
  await page.waitForURL(({ searchParams }) => searchParams.get('to_nonce') === '3')
  t.equal(new URL(page.url()).searchParams.get('player_id'), player, 'the address names the player still')
  await page.getByText('Reads nonces 2 to 3 and').waitFor()
  await page.getByRole('button', { name: 'Compute again' }).click()
  await page.getByText('All 2 nonces: 2 rounds verify').waitFor()
  await page.getByRole('button', { name: 'CSV of this page' }).waitFor()
  await book.getByRole('link', { name: 'SETTLED' }).first().click()
  await page.getByRole('region', { name: 'Fairness' }).getByRole('link', { name: 'Book of nonces' }).click()
  await page.getByText('Reads nonces 3 to 3 and').waitFor()
  t.strictSame(complaints, [])
  await close()
})

await t.test('a player is stopped and let play again', async (t) => {
  const { page, complaints, close } = await casino.window()
  const stopped = 'player-who-stops'
  const { sessionId } = await casino.seat('dice', stopped)
  await signIn(page, `/player?player_id=${stopped}`, 'Player')
  await page.getByText('This player was never stopped.').waitFor()
  await page.getByRole('button', { name: 'Stop player' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Reason').fill('asked for it on the phone')
  t.strictSame(await findBarriers(page), [])
  await form.getByRole('button', { name: 'Stop player' }).click()
  const stops = page.getByRole('table', { name: 'Stops' })
  await stops.getByText('IN FORCE').waitFor()
  await stops.getByText('asked for it on the phone').waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-player-stopped')
  // It is signed ten seconds after the stop; the page does not ask again by itself.
  const save = stops.getByRole('button', { name: /^Save the signed record of stp_/ })
  await waitFor(
    async () => {
      await page.reload()
      await stops.waitFor()
      return (await save.count()) === 1
    },
    { what: 'the signed record', timeoutMs: 60_000, everyMs: 1000 },
  )
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-stops')
  const saving = page.waitForEvent('download')
  await save.click()
  const file = await saving
  t.match(file.suggestedFilename(), /^stp_[0-9a-z]{26}\.jws$/)
  const keySet = (await send('GET', `${casino.baseUrl}/v1/public/record-keys.json`)).body
  const jws = readFileSync(await file.path(), 'utf8')
  t.match(openRecord(jws, stopRecordType, keySet), {
    ...{ player_id: stopped, reason: 'asked for it on the phone', last_bet: null, lifted_at: null },
  })
  await t.rejects(casino.seat('dice', stopped), /PLAYER_BLOCKED|403/)

  await page.getByRole('button', { name: 'Lift stop' }).click()
  await form.getByLabel('Reason').fill('asked for it again, in writing')
  await form.getByRole('button', { name: 'Lift stop' }).click()
  await stops.getByText('LIFTED', { exact: true }).waitFor()
  t.not((await casino.seat('dice', stopped)).sessionId, sessionId)
  t.strictSame(complaints, [])
  await close()
})

await t.test('a payout that differs and a round that is gone are told in words', async (t) => {
  const { page, complaints, close } = await casino.window(dark)
  await page.route('**/fairness/dice?*', async (route) => {
    const answer = await route.fetch()
    const { data, next_cursor } = bookPage.parse(await answer.json())
    const json = data.map((entry) => {
      if (entry.nonce === 2) return { ...entry, state: 'MISSING', round: null }
      if (entry.nonce !== 4 || entry.round === null) return entry
      return { ...entry, round: { ...entry.round, payout: '77.77' } }
    })
    await route.fulfill({ response: answer, json: { data: json, next_cursor } })
  })
  await signIn(page, `/fairness?${named}&game=dice`, 'Fairness')
  await page.getByRole('button', { name: 'Compute again' }).click()
  await page.getByText('3 rounds verify, 1 mismatch, 1 gap').waitFor()
  const findings = page.getByRole('table', { name: 'Findings' })
  await findings.getByText(/^payout: computed (0\.00|1\.98), recorded 77\.77\.$/).waitFor()
  await findings.getByText('A later nonce was used, and there is no round of this one.').waitFor()
  t.strictSame(await findBarriers(page), [])
  t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider')
  await casino.picture(page, 'dashboard-fairness-narrow')
  t.strictSame(complaints, [])
  await close()
})

await t.test('a session is closed, and takes no bet any more', async (t) => {
  const { page, complaints, close } = await casino.window()
  const { sessionId, playerId } = await casino.seat('dice')
  await signIn(page, `/sessions/${sessionId}`, 'Session')
  await page.getByRole('button', { name: 'Close session' }).click()
  const dialog = page.getByRole('dialog', { name: 'Close this session?' })
  await dialog.getByText(playerId).waitFor()
  t.strictSame(await findBarriers(page), [])
  await dialog.getByRole('button', { name: 'Close session' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('The session is closed already.').waitFor()
  await page
    .getByRole('region', { name: 'Session', exact: true })
    .getByText('CLOSED', { exact: true })
    .waitFor()
  const shown = await casino.operator.call('GET', `/sessions/${sessionId}`)
  t.match(shown.body, { status: 'CLOSED' })
  await page.goto(`${dashboard}/audit?act=game-session.close`)
  await page.getByText('game-session.close').waitFor()
  await page.getByText(sessionId).waitFor()
  t.strictSame(complaints, [])
  await close()
})

await t.test('free bets are granted and cancelled', async (t) => {
  const { page, complaints, close } = await casino.window(dark)
  await signIn(page, `/free-bets?${named}`, 'Free bets')
  await page.getByText('Nothing matches').waitFor()
  await page.getByRole('button', { name: 'Grant free bets' }).click()
  const form = page.getByRole('dialog', { name: 'Grant TEST free bets' })
  t.equal(await form.getByLabel('Player').inputValue(), player, 'the page is about that player')
  await form.getByLabel('Game').selectOption('mines')
  await form.getByLabel('Currency').selectOption('USD')
  await form.getByLabel('Stake of each').fill('one')
  await form.getByLabel('How many').fill('12')
  await form.getByRole('button', { name: 'Grant free bets' }).click()
  await form.getByText(/must be a decimal string/).waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-free-bet-form')
  await form.getByLabel('Stake of each').fill('1.50')
  await form.getByRole('button', { name: 'Grant free bets' }).click()
  await form.waitFor({ state: 'detached' })
  const list = page.getByRole('table', { name: 'Free bets' })
  await list.getByText('12 of 12').waitFor()
  t.strictSame(await findBarriers(page), [])
  t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nothing is wider')
  await casino.picture(page, 'dashboard-free-bets')
  await list.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Cancel them' }).click()
  await list.getByText('CANCELLED').waitFor()
  await list.getByText('0 of 12').waitFor()
  t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'nor is it afterwards')
  t.equal(await list.getByRole('button', { name: 'Cancel' }).count(), 0)
  const { body } = await send('GET', `${casino.baseUrl}/v1/dashboard/audit?act=free-bet.create`, {
    token: await tokenOfOwner(),
  })
  t.match(body, { data: [{ actor: { name: casino.owner.email }, after: { count: 12, stake: '1.50' } }] })
  t.strictSame(complaints, [])
  await close()
})

async function tokenOfOwner(): Promise<string> {
  const { body } = await send('POST', `${casino.baseUrl}/v1/dashboard/login`, { body: casino.owner })
  return String(body.access_token)
}
