import type { Game } from '@pitboss/fairness/games/game'
import { formatDecimal, formatMultiplier, rationalToText } from '@pitboss/money/rational'
import { type BetShape, betShapesOf, rtpRange } from './bet-shapes.ts'

/** A limit of the game in one currency, as the API shows it. */
export type SheetLimit = {
  readonly currency: string
  readonly min_stake: string
  readonly max_stake: string
  readonly max_payout: string
  readonly rtp_at_min_stake: string | null
}

/** A picture of the page: its file beside the sheet, and what it shows. */
export type SheetPicture = { readonly file: string; readonly shows: string }

const rules: Readonly<Record<string, readonly string[]>> = {
  dice: [
    'The player chooses a target from 0.01 to 99.98 and whether the roll is to be over or under it.',
    'One of 10,000 equally likely rolls is drawn, 00.00 to 99.99. "Over" wins above the target, "under" below it.',
    'At least 1 and at most 9,800 of the rolls win.',
  ],
  mines: [
    'The player chooses 1 to 24 mines. They are placed among 25 tiles, every placement equally likely.',
    'Each safe tile that is opened raises the multiplier. A mine ends the round without a win.',
    'The player cashes out after any safe tile. When all safe tiles are open, or the next one would pay more than the greatest payout, the round cashes out by itself.',
  ],
  'spin-bottle': [
    'The player chooses a number of sectors (2, 3, 4, 5, 6, 8, 9, 10 or 12) and one of them.',
    'One of 3,600 equally likely angles is drawn, 000.0 to 359.9. The sector that it lies in wins.',
  ],
}

const rowsMax = 24

/** The sheet of a game as Markdown: rules, return to player, draw, limits, pictures. */
export function renderSheet(
  game: Game,
  { limits, pictures }: { limits: readonly SheetLimit[]; pictures: readonly SheetPicture[] },
): string {
  const shapes = betShapesOf(game)
  const { least, greatest } = rtpRange(shapes)
  return [
    `# ${game.name}`,
    '',
    `Name in the API: \`${game.slug}\`. Return to player: ${formatDecimal(game.rtp, 4)}. Written by \`npm run game-sheet\`.`,
    '',
    '## Rules',
    '',
    ...(rules[game.slug] ?? []).map((rule) => `- ${rule}`),
    '- A win pays stake × multiplier, rounded down to the currency. The multiplier is an exact fraction.',
    '',
    '## Return to player',
    '',
    `Counted over every outcome of the draw, for each of the ${shapes.length} ways to bet: least ${rationalToText(least)}, greatest ${rationalToText(greatest)}. Rounding down to the currency lowers it by less than one minor unit a win.`,
    '',
    ...table(
      ['Bet', 'Chance of a win', 'Multiplier', 'Return'],
      spread(shapes).map(({ name, chance, multiplier, rtp }) => [
        name,
        rationalToText(chance),
        formatMultiplier(multiplier),
        rationalToText(rtp),
      ]),
    ),
    '',
    '## Draw',
    '',
    'Algorithm `fair-v1`: HMAC-SHA256 keyed with a secret server seed over client seed, nonce and block; 32-bit words, drawn without bias by rejection. The hash of the server seed is shown before the bet, the seed after the round, and anybody can recompute the outcome. One seed serves one round.',
    '',
    '## Limits',
    '',
    ...table(
      ['Currency', 'Least stake', 'Greatest stake', 'Greatest payout', 'Least return at the least stake'],
      limits.map(({ currency, min_stake, max_stake, max_payout, rtp_at_min_stake }) => [
        currency,
        min_stake,
        max_stake,
        max_payout,
        rtp_at_min_stake ?? 'no bet is taken',
      ]),
    ),
    '',
    '## Pictures',
    '',
    ...pictures.flatMap(({ file, shows }) => [`![${shows}](${file})`, '']),
  ].join('\n')
}

/** At most `rowsMax` shapes, evenly over all of them; the first and the last are among them. */
function spread(shapes: readonly BetShape[]): BetShape[] {
  if (shapes.length <= rowsMax) return [...shapes]
  const step = (shapes.length - 1) / (rowsMax - 1)
  return Array.from({ length: rowsMax }, (_, row) => shapes[Math.round(row * step)]).filter(
    (one): one is BetShape => one !== undefined,
  )
}

function table(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(columns), line(columns.map(() => '---')), ...rows.map(line)]
}
