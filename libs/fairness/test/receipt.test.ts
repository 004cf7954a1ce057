import t from 'tap'
import { receiptHash } from '../src/receipt.ts'
import { roundLine } from '../src/round-line.ts'

t.test('the hash of a receipt is that of six lines', async (t) => {
  const shown = {
    roundId: 'rnd_01jd3v8x5q7r2m4n6p8s0t1w3y',
    build: 'dice-Bx7Tq1.js',
    language: 'en',
    textVersion: 1,
    text: 'Rolled 73.12. You won 1.98 EUR at 1.98×',
  }
  // Computed by Python's hashlib.
  const hash = '1494aacc50b3b6c6146c00dfe20805f1a8e9f0f4aaf01da4bd3df0a558d59280'
  t.equal(receiptHash(shown), hash)
  const others = [
    { roundId: 'rnd_other' },
    { build: 'dice-0.js' },
    { language: 'de' },
    { textVersion: 2 },
    { text: 'Rolled 73.12. No win this time.' },
  ]
  for (const other of others) t.not(receiptHash({ ...shown, ...other }), hash)
})

t.test('the end of a round is told in a sentence', async (t) => {
  const lineOf = (game: string, outcome: Record<string, unknown>, more = {}) =>
    roundLine({
      game,
      outcome,
      status: 'SETTLED',
      payout: '1234.50',
      currency: 'EUR',
      multiplier: '1.9800',
      end_reason: null,
      ...more,
    })
  t.equal(lineOf('dice', { roll: '73.12', won: true }), 'Rolled 73.12. You won 1,234.50 EUR at 1.98×')
  t.equal(lineOf('dice', { roll: '73.12', won: false }), 'Rolled 73.12. No win this time.')
  const mines = (opened: number[], won: boolean) =>
    lineOf('mines', { tiles_opened: opened, won }, { multiplier: '1.1250' })
  t.equal(mines([3], true), 'Cashed out after 1 safe tile. You won 1,234.50 EUR at 1.1250×')
  t.equal(mines([3, 4, 9], false), 'Hit a mine after 2 safe tiles. No win this time.')
  const turn = { sector: 2, angle: '311.5', won: false }
  t.equal(lineOf('spin-bottle', turn), 'The bottle points at C, 311.5°. No win this time.')
  t.equal(
    lineOf('dice', { roll: '73.12', won: true }, { end_reason: 'win_failed', payout: '0.00' }),
    'Rolled 73.12. You won, but your casino has not paid it.',
  )
  t.equal(lineOf('dice', {}, { status: 'VOIDED' }), null)
  t.equal(lineOf('dice', {}, { outcome: null }), null)
})
