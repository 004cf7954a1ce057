import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gameBySlug, games } from '@pitboss/fairness/games/registry'
import { z } from 'zod'
import { renderSheet, type SheetPicture } from './sheet/render-sheet.ts'
import { startCasino } from './test/fixtures/start-casino.ts'

/**
 * `npm run game-sheet -- <game>`: starts the product, plays a round in Chromium and writes the sheet of the
 * game, with pictures, to `artifacts/game-sheets/<game>`. Exit 2 for an unknown game.
 */
const [slug = ''] = process.argv.slice(2)
const game = gameBySlug(slug)
if (game === null) {
  console.error(`usage: npm run game-sheet -- ${games.map((one) => one.slug).join('|')}`)
  process.exit(2)
}

const shown = z.object({
  limits: z.array(
    z.object({
      currency: z.string(),
      min_stake: z.string(),
      max_stake: z.string(),
      max_payout: z.string(),
      rtp_at_min_stake: z.string().nullable(),
    }),
  ),
})
const folder = fileURLToPath(new URL(`../artifacts/game-sheets/${game.slug}/`, import.meta.url))
mkdirSync(folder, { recursive: true })
const stops: (() => Promise<void>)[] = []
try {
  const casino = await startCasino({ teardown: (stop) => void stops.unshift(stop) })
  const { page, close } = await casino.window()
  const pictures: SheetPicture[] = []
  const picture = async (file: string, shows: string) => {
    await page.screenshot({ path: `${folder}${file}` })
    pictures.push({ file, shows })
  }
  await page.goto((await casino.seat(game.slug)).url)
  await page.getByTestId('play').waitFor()
  await picture('before.png', 'The page before a bet')
  await page.getByTestId('play').click()
  if (game.stepwise) {
    await page.getByTestId('cash-out').waitFor()
    await picture('open.png', 'An open round')
    await page.locator('[data-tile="12"]').click()
    await page.locator('[data-tile="12"]:not([data-face="closed"]):not([data-face="opening"])').waitFor()
    const cashOut = page.getByTestId('cash-out').and(page.locator(':enabled'))
    if ((await cashOut.count()) > 0) await cashOut.click()
  }
  await page.getByTestId('verify-last').waitFor()
  await picture('after.png', 'The result')
  await page.getByTestId('verify-last').click()
  await page.getByTestId('verdict').waitFor()
  await picture('proof.png', 'The proof of the round')
  const { body } = await casino.operator.call('GET', `/games/${game.slug}`)
  const { limits } = shown.parse(body)
  writeFileSync(`${folder}sheet.md`, renderSheet(game, { limits, pictures }))
  await close()
  console.log(`${folder}sheet.md`)
} finally {
  for (const stop of stops) await stop()
}
