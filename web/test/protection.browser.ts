import { stopSchema } from '@pitboss/contracts/objects/player-stop'
import { stopRecordType } from '@pitboss/contracts/token-claims'
import { openRecord } from '@pitboss/testing/open-record'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { findBarriers } from './fixtures/find-barriers.ts'
import { returnUrl, startCasino } from './fixtures/start-casino.ts'

t.setTimeout(300_000)
const casino = await startCasino(t, ['--replicas', 'gateway=2,rounds=2'])
const uk = { jurisdiction: 'UK' }
const checked = { ...uk, reality_check_s: 60 }

t.test('an early press is refused by the service and explained by the page', async (t) => {
  const { page, complaints, close } = await casino.window()
  const { url } = await casino.seat('dice', undefined, uk)
  await page.goto(url)
  const spent = page.getByTestId('net-spend')
  await spent.waitFor()
  t.equal(await spent.textContent(), '0.00 USD')
  t.match(await page.getByTestId('elapsed').textContent(), /^0:00:\d\d$/)
  await page.getByTestId('play').click()
  await page.getByTestId('verify-last').waitFor()
  const refusal = page.waitForResponse((answer) => answer.status() === 429)
  await page.getByTestId('play').click()
  const refused = await refusal
  t.match(await refused.headerValue('retry-after'), /^[1-5]$/)
  t.match(await refused.json(), { code: 'RATE_LIMITED', retryable: true })
  await page.getByText('That was too quick.').waitFor()
  t.match(await page.getByTestId('held').textContent(), /^[1-5] s$/)
  t.ok(await page.getByTestId('play').isDisabled())
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'too-quick')
  await page.getByTestId('play').and(page.locator(':enabled')).click()
  await page.getByTestId('verify-last').waitFor()
  t.equal(await page.getByTestId('nonce').textContent(), '3', 'the refused press took no nonce')

  const before = await spent.textContent()
  t.not(before, '0.00 USD')
  await page.goto('about:blank')
  await page.goto(url)
  await spent.waitFor()
  t.equal(await spent.textContent(), before, 'right after the page was opened again')
  t.strictSame(complaints, [])
  await close()
})

t.test('of presses at once through two gateways one is accepted', async (t) => {
  const presses = Array.from({ length: 8 }, (_, press) => press)
  const player = await casino.operator.openSession({
    ...{ player_id: `many-${Date.now()}`, game: 'dice', currency: 'USD' },
    ...uk,
  })
  const bet = { stake: '1.00', bet: { target: '50.00', direction: 'over' } }
  const answers = await Promise.all(
    presses.map((press) => player.call('POST', '/game/rounds', { ...bet, transaction_id: `press-${press}` })),
  )
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
  t.strictSame(statuses, [201, ...presses.slice(1).map(() => 429)])
  const accepted = answers.findIndex(({ status }) => status === 201)
  const again = await player.call('POST', '/game/rounds', { ...bet, transaction_id: `press-${accepted}` })
  t.equal(again.status, 201, 'its repeat is not too early')
  t.equal(again.body.round_id, answers[accepted]?.body.round_id)
})

t.test('a reality check interrupts play, and the player goes on', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.clock.install()
  await page.goto((await casino.seat('dice', undefined, checked)).url)
  await page.getByTestId('play').waitFor()
  await page.clock.fastForward('01:00')
  const check = page.getByTestId('reality-check')
  await check.waitFor()
  await page.keyboard.press('Escape')
  t.ok(await check.isVisible(), 'only an answer ends it')
  t.match(await check.textContent(), 'Net spend')
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'reality-check')
  await check.getByRole('button', { name: 'Go on' }).click()
  await check.waitFor({ state: 'detached' })
  await page.getByTestId('play').and(page.locator(':enabled')).waitFor()
  t.strictSame(complaints, [])
  await close()
})

t.test('who stops in the middle of mines finishes the open round and starts no other', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.clock.install()
  await page.goto((await casino.seat('mines', undefined, checked)).url)
  await page.getByTestId('play').click()
  // The session is read again after the start; what it says then counts from the service's clock.
  await page.getByTestId('net-spend').filter({ hasText: '1.00 USD' }).waitFor()
  await page.clock.fastForward('01:00')
  const check = page.getByTestId('reality-check')
  t.match(await check.textContent(), 'Your open round waits for you')
  await check.getByRole('button', { name: 'Stop playing' }).click()
  await check.waitFor({ state: 'detached' })
  t.match(await page.getByTestId('session-ended').textContent(), 'This session was closed')
  t.equal(await page.getByText('Back to the casino').getAttribute('href'), returnUrl)
  await page.locator('[data-tile="12"]').click()
  await page.locator('[data-tile="12"]:not([data-face="closed"]):not([data-face="opening"])').waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'stopped')
  t.strictSame(complaints, [])
  await close()
})

t.test(
  'a player who is stopped in the middle of mines gets the stake back and starts nothing more',
  async (t) => {
    const { page, complaints, close } = await casino.window()
    const { url, playerId } = await casino.seat('mines', undefined, uk)
    await page.goto(url)
    await page.getByTestId('play').click()
    await page.getByTestId('net-spend').filter({ hasText: '1.00 USD' }).waitFor()
    const player = `/players/${encodeURIComponent(playerId)}`
    const stopped = await casino.operator.call('POST', `${player}/stop`, { reason: 'self-exclusion' })
    t.equal(stopped.status, 200)
    await waitFor(async () => {
      const { body } = await casino.operator.call('GET', `/rounds?player_id=${encodeURIComponent(playerId)}`)
      return JSON.stringify(body).includes('"VOIDED"')
    })
    await page.locator('[data-tile="12"]').click()
    await page.getByTestId('session-ended').waitFor()
    t.match(await page.getByTestId('session-ended').textContent(), 'This session was closed')
    await page.getByText('Your stake was given back.').first().waitFor()
    t.equal(await page.getByTestId('net-spend').textContent(), '0.00 USD')
    t.strictSame(await findBarriers(page), [])
    await casino.picture(page, 'stopped-by-operator')
    t.strictSame(complaints, [])
    await close()
  },
)

t.test('a stop holds while auth and rounds are killed', async (t) => {
  for (const service of ['auth', 'rounds']) {
    const player_id = `stopped while ${service} dies`
    const mines = await casino.operator.openSession({ player_id, game: 'mines', currency: 'USD' })
    const opened = await mines.call('POST', '/game/rounds', { stake: '1.00', bet: { mines: 3 } })
    t.equal(opened.status, 201)
    const path = `/players/${encodeURIComponent(player_id)}/stop`
    const body = { reason: 'self-exclusion' }
    const asked = casino.operator.call('POST', path, body)
    casino.kill(service)
    const first = await asked
    // Whatever became of the first answer, a repeat is the same stop.
    const stopped = await waitFor(
      async () => {
        const answer = await casino.operator.call('POST', path, body)
        return answer.status === 200 ? answer.body : null
      },
      { what: `the stop while ${service} dies`, timeoutMs: 60_000 },
    )
    if (first.status === 200) t.equal(stopped.stop_id, first.body.stop_id)
    t.equal(stopped.status, 'IN_FORCE')
    const bet = { stake: '1.00', bet: { mines: 3 } }
    const refused = await waitFor(
      async () => {
        const answer = await mines.call('POST', '/game/rounds', bet)
        return answer.body.retryable === true || answer.status === 0 ? null : answer
      },
      { what: 'a definite answer', timeoutMs: 60_000 },
    )
    t.match(refused, { status: 403, body: { code: 'PLAYER_BLOCKED' } })
    const ended = await waitFor(
      async () => {
        const { body: round } = await casino.operator.call('GET', `/rounds/${String(opened.body.round_id)}`)
        return round.status === 'VOIDED' ? round : null
      },
      { what: 'the open round to end', timeoutMs: 60_000 },
    )
    t.equal(ended.end_reason, 'abandoned')
    const record = await waitFor(
      async () => {
        const { body } = await casino.operator.call('GET', `${path}s`)
        const { record: signed, rounds_ended_at, stop_id } = stopSchema.parse([body.data].flat()[0])
        return signed === null ? null : { signed, rounds_ended_at, stop_id }
      },
      { what: 'the signed record', timeoutMs: 60_000 },
    )
    const keySet = (await casino.operator.call('GET', '/public/record-keys.json')).body
    t.match(openRecord(record.signed, stopRecordType, keySet), {
      ...{ stop_id: record.stop_id, player_id, rounds_ended_at: record.rounds_ended_at },
      last_bet: { round_id: opened.body.round_id, game: 'mines', stake: '1.00' },
    })
  }
})

t.test(
  'the last ten rounds, of every session, are on recall, and the end of the session is told',
  async (t) => {
    const { page, complaints, close } = await casino.window()
    const earlier = await casino.operator.openSession({
      player_id: 'recalling',
      game: 'dice',
      currency: 'USD',
    })
    const bet = { stake: '1.00', bet: { target: '50.00', direction: 'over' } }
    for (let round = 0; round < 10; round++) await earlier.call('POST', '/game/rounds', bet)
    const { url } = await casino.seat('dice', 'recalling', { ...uk, expires_in_s: 200 })
    await page.goto(url)
    await page.getByTestId('history').waitFor()
    t.equal(await page.getByTestId('history').locator('li').count(), 10)
    t.match(await page.locator('.countdown').textContent(), /^This session ends in [0-3]:\d\d$/)
    t.strictSame(complaints, [])
    await close()
  },
)

t.test('a session without a jurisdiction shows none of it', async (t) => {
  const { page, close } = await casino.window()
  await page.goto((await casino.seat('dice')).url)
  await page.getByTestId('play').waitFor()
  t.equal(await page.getByTestId('net-spend').count(), 0)
  await close()
})

t.test('an owner sets the default of the account, and new sessions take it', async (t) => {
  const { page, complaints, close } = await casino.window()
  await page.goto(`${casino.baseUrl}/dashboard/business`)
  await page.getByLabel('Email').fill(casino.owner.email)
  await page.getByLabel('Password').fill(casino.owner.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const choose = async (name: string) => {
    await page.getByRole('button', { name: 'Change settings' }).click()
    await page.getByLabel('Jurisdiction of new sessions').selectOption(name)
    t.strictSame(await findBarriers(page), [])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  const opened = async () => {
    const { session } = await casino.operator.openSession({ player_id: 'any', game: 'dice', currency: 'USD' })
    return session.jurisdiction
  }
  await choose('UK')
  await page.getByText('Jurisdiction of new sessions').waitFor()
  await waitFor(async () => (await opened()) === 'UK', { what: 'every gateway knows the default' })
  await choose('NONE')
  await waitFor(async () => (await opened()) === undefined, {
    what: 'every gateway knows that there is none',
  })
  t.strictSame(complaints, [])
  await close()
})
