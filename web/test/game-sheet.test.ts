import { games } from '@pitboss/fairness/games/registry'
import { compareRational, rationalToText } from '@pitboss/money/rational'
import t from 'tap'
import { betShapesOf, rtpRange } from '../sheet/bet-shapes.ts'
import { renderSheet } from '../sheet/render-sheet.ts'

const shapesOf: Readonly<Record<string, number>> = { dice: 19_600, mines: 300, 'spin-bottle': 59 }

for (const game of games) {
  t.test(`every way to bet on ${game.slug} gives back the share that the catalogue names`, (t) => {
    const shapes = betShapesOf(game)
    t.equal(shapes.length, shapesOf[game.slug])
    const { least, greatest } = rtpRange(shapes)
    t.equal(compareRational(least, game.rtp), 0, rationalToText(least))
    t.equal(compareRational(greatest, game.rtp), 0, rationalToText(greatest))
    t.end()
  })
}

t.test('a sheet has rules, shares, draw, limits and pictures', (t) => {
  const limits = [
    {
      currency: 'USD',
      min_stake: '0.10',
      max_stake: '1000.00',
      max_payout: '100000.00',
      rtp_at_min_stake: '0.9076',
    },
  ]
  const pictures = [{ file: 'before.png', shows: 'The page before a bet' }]
  for (const game of games) {
    const sheet = renderSheet(game, { limits, pictures })
    for (const part of [
      '## Rules\n\n- ',
      'least 99/100, greatest 99/100',
      'fair-v1',
      '| USD |',
      '](before.png)',
    ]) {
      t.ok(sheet.includes(part), `${game.slug}: ${part}`)
    }
  }
  t.end()
})
