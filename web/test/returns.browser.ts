import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { send } from '@pitboss/testing/operator-client'
import { repeatRound } from '@pitboss/testing/repeat-round'
import { waitFor } from '@pitboss/testing/wait-for'
import { pageOf } from '@pitboss/contracts/primitives'
import { returnAlarmSchema, returnStreamSchema } from '@pitboss/contracts/objects/returns'
import t from 'tap'
import { z } from 'zod'
import { signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(600_000)
const casino = await startCasino(t)
const dashboard = `${casino.baseUrl}/dashboard/test`
const themes = ['light', 'dark'] as const
const widths = [360, 1180, 1440] as const
const [players, roundsEach, boards] = [6, 25, 12]
const played = players * roundsEach
const pageSchema = pageOf(returnStreamSchema)
/** Wins of an even bet in a row that chance does not explain. */
const luck = 150

/** Plays one round; new play that has to wait for deliveries is asked for again. */
const letIn = (seat: Awaited<ReturnType<typeof casino.operator.openSession>>, play: object) => {
  const request = { ...play, transaction_id: randomUUID() }
  return waitFor(
    async () => {
      const { status, body } = await seat.call('POST', '/game/rounds', request)
      return status === 201 ? body : null
    },
    { what: 'a round to be let in', timeoutMs: 60_000, everyMs: 200 },
  )
}

await Promise.all(
  Array.from({ length: players }, async (_, number) => {
    const player_id = `watched ${number}`
    const currency = number % 2 === 0 ? 'USD' : 'EUR'
    const seat = await casino.operator.openSession({ player_id, game: 'dice', currency })
    const bet = { target: '49.50', direction: 'under' }
    for (let round = 0; round < roundsEach; round++) await letIn(seat, { stake: '1.00', bet })
    const mines = await casino.operator.openSession({ player_id, game: 'mines', currency })
    for (let board = 0; board < boards; board++) {
      const body = await letIn(mines, { stake: '1.00', bet: { mines: 3 } })
      const round = `/game/rounds/${String(body.round_id)}`
      const opened = await mines.call('POST', `${round}/reveal`, { tile: board })
      if (opened.body.status === 'OPEN') await mines.call('POST', `${round}/cashout`)
    }
  }),
)
const login = await send('POST', `${casino.baseUrl}/v1/dashboard/login`, { body: casino.owner })
const token = String(login.body.access_token)
const streams = async () => {
  const { status, body } = await send('GET', `${casino.baseUrl}/v1/dashboard/returns?limit=50`, { token })
  return status === 200 ? pageSchema.parse(body).data : []
}
await waitFor(
  async () => {
    const dice = (await streams()).filter(({ shape }) => shape === 'chance 99/200')
    return dice.reduce((sum, { trials }) => sum + trials, 0) === played
  },
  { what: 'every round to be counted', timeoutMs: 60_000 },
)

for (const colorScheme of themes)
  for (const width of widths)
    t.test(`the page of returns shows what the service counted, ${colorScheme}, ${width} px`, async (t) => {
      const { page, complaints, close } = await casino.window({
        colorScheme,
        viewport: { width, height: 900 },
      })
      await page.goto(`${dashboard}/returns`)
      await signIn(page, casino.owner, 'Returns')
      const table = page.getByRole('table', { name: 'Returns' })
      await table.getByText('tile 1 beside 3 mines').first().waitFor()
      const told = await streams()
      t.equal(await table.getByRole('row').count(), told.length + 1)
      const euro = told.find(({ shape, currency }) => shape === 'chance 99/200' && currency === 'EUR')
      // On a narrow screen the titles of the columns stand between the cells.
      const rowOf = (shape: string) =>
        table.getByRole('row').filter({ hasText: shape }).filter({ hasText: 'EUR' })
      const row = rowOf('chance 99/200')
      const text = (await row.textContent()) ?? ''
      t.match(text, `${played / 2}`)
      t.match(text, `${(Number(euro?.seen) * 100).toFixed(2)}\u00a0%`)
      t.match(text, 'would notice a 1-point error within')
      t.match(await row.getByRole('img').getAttribute('aria-label'), 'dice, chance 99/200: 75 trials')
      t.match(await rowOf('draws').textContent(), 'equally likely parts')
      t.strictSame(await findBarriers(page), [])
      const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
      t.ok(wide <= width, `${wide} of ${width} px`)
      const right = await table.evaluate((element) => element.getBoundingClientRect().right)
      t.ok(right <= width, `the table ends at ${right} of ${width} px`)
      await casino.picture(page, `returns-${colorScheme}-${width}`)
      await row.scrollIntoViewIfNeeded()
      await row.getByRole('img').scrollIntoViewIfNeeded()
      await casino.picture(page, `returns-row-${colorScheme}-${width}`)
      await page.getByLabel('Currency').fill('USD')
      await page.getByLabel('Currency').press('Enter')
      await page.waitForURL('**/returns?currency=USD')
      await row.waitFor({ state: 'detached' })
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV of this page' }).click(),
      ])
      const csv = readFileSync(await download.path(), 'utf8')
      t.match(csv, /^"dice 1, draws",USD,75,,,,equally likely parts; well: \d+ % of an alarm\r$/m)
      t.strictSame(complaints, [])
      await close()
    })

t.test('operations see the whole installation, with its picture', async (t) => {
  const file = join(t.testdir({}), 'dice.svg')
  await casino.readOps('rtp', 'show', 'dice', '--environment', 'SANDBOX', '--svg', file)
  t.match(readFileSync(file, 'utf8'), `dice, chance 99/200: ${played} trials`)
})

t.test(
  'an alarm takes the game down, stands out in the page, and ends when operations lift it',
  async (t) => {
    const seat = await casino.operator.openSession({ player_id: 'lucky', game: 'dice', currency: 'USD' })
    const win = async () => {
      const bet = { target: '49.50', direction: 'under' }
      const { body } = await seat.call('POST', '/game/rounds', { stake: '1.00', bet })
      if (body.payout === '0.00') return false
      await repeatRound(casino.mongodbUrl, String(body.round_id), luck)
      return true
    }
    await waitFor(win, { what: 'a win', timeoutMs: 60_000 })
    const opening = { player_id: 'next', game: 'dice', currency: 'USD' }
    const openings = () => casino.operator.call('POST', '/sessions', opening)
    await waitFor(async () => (await openings()).body.code === 'GAME_UNAVAILABLE', {
      ...{ what: 'dice to be down', timeoutMs: 60_000 },
    })

    const { page, complaints, close } = await casino.window()
    await page.goto(`${dashboard}/returns?currency=USD`)
    await signIn(page, casino.owner, 'Returns')
    const row = page
      .getByRole('table', { name: 'Returns' })
      .getByRole('row')
      .filter({ hasText: 'chance 99/200' })
    await row.getByText(/^Alarm after \d+ trials/).waitFor()
    t.strictSame(await findBarriers(page), [])
    await row.scrollIntoViewIfNeeded()
    await casino.picture(page, 'returns-alarm')

    const alarms = z.array(returnAlarmSchema).parse(await casino.readOps('rtp', 'alarms'))
    t.ok(alarms.length > 0)
    for (const { alarm_id, stream } of alarms) {
      t.equal(stream.game, 'dice')
      await casino.ops('rtp', 'lift', alarm_id, '--yes', '--reason', 'the rounds were made by a test')
    }
    await waitFor(async () => (await openings()).status === 201, {
      what: 'dice to be back',
      timeoutMs: 60_000,
    })
    await page.reload()
    await row.getByText(/^well: /).waitFor()
    t.strictSame(complaints, [])
    await close()
  },
)
