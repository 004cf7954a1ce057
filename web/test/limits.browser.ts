import { send } from '@pitboss/testing/operator-client'
import t from 'tap'
import { signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(300_000)
const casino = await startCasino(t, ['--replicas', 'gateway=2,rounds=2'])
const dashboard = `${casino.baseUrl}/dashboard/test`
const themes = ['light', 'dark'] as const
const widths = [360, 1440] as const

t.test('a limit that support sets is held by the service and told by the page', async (t) => {
  const { url, playerId } = await casino.seat('dice')
  const { page: desk, complaints: others, close: leave } = await casino.window()
  await desk.goto(`${dashboard}/player?player_id=${playerId}`)
  await signIn(desk, casino.owner, 'Player')
  await desk.getByText('This player has no limit.').waitFor()
  const setLimit = async (fields: Record<string, string>) => {
    await desk.getByRole('button', { name: 'Set a limit' }).click()
    const form = desk.getByRole('dialog', { name: 'Set a limit' })
    for (const [label, value] of Object.entries(fields)) {
      const field = form.getByLabel(label)
      if (['Kind', 'Period'].includes(label)) await field.selectOption(value)
      else await field.fill(value)
    }
    t.strictSame(await findBarriers(desk), [], 'the form')
    await form.getByRole('button', { name: 'Set limit' }).click()
    return form
  }
  const asked = { Kind: 'stake', Period: 'day', Currency: 'USD', Reason: 'asked for it on the phone' }
  const wrong = await setLimit({ ...asked, 'Amount, or minutes': 'one' })
  await wrong
    .getByText(/must be/)
    .first()
    .waitFor()
  await casino.picture(desk, 'limit-form')
  await wrong.getByLabel('Amount, or minutes').fill('1.50')
  await wrong.getByRole('button', { name: 'Set limit' }).click()
  await wrong.waitFor({ state: 'detached' })
  const table = desk.getByRole('table', { name: 'Limits' })
  await table.getByRole('row', { name: /stake a day, USD 1\.50 0\.00 1\.50/ }).waitFor()
  await (await setLimit({ ...asked, Kind: 'loss', Period: 'week', 'Amount, or minutes': '40' })).waitFor({
    state: 'detached',
  })
  const timed = { Kind: 'time', Period: 'month', 'Amount, or minutes': '600', Reason: 'asked, too' }
  await (await setLimit(timed)).waitFor({ state: 'detached' })
  await table.getByRole('row', { name: /time a month 600 min/ }).waitFor()
  t.equal(await table.getByRole('row').count(), 4, 'a limit more leaves the others')

  const { page, complaints, close } = await casino.window()
  await page.goto(url)
  const press = () => page.getByTestId('play').and(page.locator(':enabled')).click()
  await press()
  await page.getByTestId('verify-last').waitFor()
  const refusal = page.waitForResponse((answer) => answer.status() === 422)
  await press()
  t.match(await (await refusal).json(), {
    code: 'BET_LIMIT_EXCEEDED',
    details: [{ path: 'limits.stake.day' }],
  })
  await page.getByText('The stake limit that was set for you is 1.50 USD a day; 0.50 USD left').waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'limit')
  const { body } = await casino.operator.call('GET', `/rounds?player_id=${playerId}`)
  t.match(body, { data: [{ stake: '1.00' }] })
  t.equal(JSON.stringify(body).match(/"round_id"/g)?.length, 1, 'the refused stake left nothing')

  await desk.reload()
  await table.getByRole('row', { name: /stake a day, USD 1\.50 1\.00 0\.50/ }).waitFor()
  await (await setLimit({ ...asked, 'Amount, or minutes': '5.00' })).waitFor({ state: 'detached' })
  const raised = table.getByRole('row', { name: /stake a day, USD 1\.50 1\.00 0\.50 .*5\.00,/ })
  await raised.waitFor()
  for (const colorScheme of themes)
    for (const width of widths) {
      await desk.emulateMedia({ colorScheme })
      await desk.setViewportSize({ width, height: 900 })
      await table.scrollIntoViewIfNeeded()
      t.strictSame(await findBarriers(desk), [], `${colorScheme}, ${width} px`)
      const wide = Number(await desk.evaluate('document.documentElement.scrollWidth'))
      t.ok(wide <= width, `${wide} of ${width} px`)
      await casino.picture(desk, `limits-${colorScheme}-${width}`)
    }
  const login = await send('POST', `${casino.baseUrl}/v1/dashboard/login`, { body: casino.owner })
  const path = `/v1/dashboard/audit?act=player.set-limits&limit=10`
  const audit = await send('GET', `${casino.baseUrl}${path}`, { token: String(login.body.access_token) })
  t.match(audit.body, { data: [{ actor: { name: casino.owner.email }, object: { id: playerId } }] })
  const kept = await casino.operator.call('GET', `/players/${playerId}/limits`)
  t.match(kept.body, { changes: [{ reason: 'asked for it on the phone' }] }, 'the record keeps why')
  t.strictSame([...complaints, ...others], [])
  await leave()
  await close()
})

t.test('a loss that is used up refuses stakes and never the win that is owed', async (t) => {
  const player_id = 'loses to the limit'
  const path = `/players/${encodeURIComponent(player_id)}/limits`
  const limits = [{ kind: 'loss', period: 'day', currency: 'USD', amount: '1.00' }]
  t.equal((await casino.operator.call('PUT', path, { limits })).status, 200)
  const session = await casino.operator.openSession({ player_id, game: 'mines', currency: 'USD' })
  const bet = { stake: '1.00', bet: { mines: 1 } }
  const opened = await session.call('POST', '/game/rounds', bet)
  t.equal(opened.status, 201)
  const dice = await casino.operator.openSession({ player_id, game: 'dice', currency: 'USD' })
  const even = { stake: '0.10', bet: { target: '50.00', direction: 'over' } }
  const refused = await dice.call('POST', '/game/rounds', even)
  t.match(refused, { status: 422, body: { code: 'BET_LIMIT_EXCEEDED' } }, 'in every game')
  const round = `/game/rounds/${String(opened.body.round_id)}`
  const tile = await session.call('POST', `${round}/reveal`, { tile: 12 })
  t.equal(tile.status, 200, 'the open round goes on')
  if (tile.body.status !== 'OPEN') return
  const paid = await session.call('POST', `${round}/cashout`)
  t.match(paid, { status: 200, body: { status: 'SETTLED' } })
  t.ok(Number(paid.body.payout) >= 1, 'the win is paid')
  t.equal((await dice.call('POST', '/game/rounds', { ...even, stake: paid.body.payout })).status, 201)
})
