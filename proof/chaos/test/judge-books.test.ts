import { readFileSync } from 'node:fs'
import t from 'tap'
import { type Books, judgeBooks } from '../src/judge/judge-books.ts'

const { vectors } = JSON.parse(
  readFileSync(
    new URL('../../../libs/fairness/test/fixtures/fairness-vectors.json', import.meta.url),
    'utf8',
  ),
) as { vectors: { server_seed: string; server_seed_hash: string; client_seed: string; dice_roll: string }[] }

const stakeId = `bet_${'0'.repeat(26)}`

/** One won round of dice, as API, events and wallet tell of it. */
function oneRound(): Books {
  const [vector] = vectors
  if (vector === undefined) throw new Error('no vector')
  const fairness = { ...vector, nonce: 1 }
  const outcome = { roll: vector.dice_roll, target: '50.00', direction: 'over', won: true }
  const round = {
    ...{
      round_id: 'rnd_1',
      player_id: 'ann',
      game: 'dice',
      status: 'SETTLED',
      driver: 'game',
      free_bet: false,
    },
    ...{ stake: '1.01', payout: '2.00', currency: 'USD', multiplier: '1.9803', wallet_round_id: 'uuid' },
    ...{
      bet: { target: '50.00', direction: 'over' },
      outcome,
      fairness,
      end_reason: null,
      completed_at: 'now',
    },
  }
  const of = { player_id: 'ann', currency: 'USD', round_id: 'uuid', reference_transaction_id: null }
  const rest = { currency: 'USD', round_id: 'rnd_1', status: 'SUCCESS' }
  const bet = { ...rest, transaction_id: stakeId, type: 'BET', amount: '1.01' }
  const win = { ...rest, transaction_id: 'win_1', type: 'WIN', amount: '2.00' }
  return {
    ...{ name: 'test', rounds: [round], movements: [bet, win], maxPayouts: {}, setBack: null },
    events: [
      { id: 'evt_1', type: 'transaction.bet', data: bet },
      { id: 'evt_2', type: 'transaction.win', data: win },
      { id: 'evt_3', type: 'round.completed', data: round },
    ],
    ledger: [
      { ...of, seq: 1, operation: 'adjustment', transaction_id: '', effect: '9.00', balance_after: '9.00' },
      { ...of, seq: 2, operation: 'debit', transaction_id: stakeId, effect: '-1.01', balance_after: '7.99' },
      { ...of, seq: 3, operation: 'credit', transaction_id: 'win_1', effect: '2.00', balance_after: '9.99' },
    ],
    balances: { ann: { USD: '9.99' } },
  } as unknown as Books
}

const violated = (books: Books) =>
  judgeBooks([books]).flatMap(({ name, violations }) => (violations.length > 0 ? [name] : []))

t.test('books that are right are judged right', async (t) => {
  t.strictSame(violated(oneRound()), [])
})

const mistakes: Readonly<Record<string, [broken: string, make: (text: string) => string]>> = {
  'a payout that is rounded up': [
    'a payout is stake × multiplier',
    (text) => text.replaceAll('2.00', '2.01'),
  ],
  'a seed that was exchanged': [
    'the seed of an ended round',
    (text) => text.replaceAll('18e93f4a', '18e93f4b'),
  ],
  "a page's id that reached the wallet": [
    'no page names a movement',
    (text) => text.replaceAll(stakeId, 'chosen-by-the-page'),
  ],
  'a stake that is taken twice': ['a round moves its payout', (text) => text.replace('-1.01', '-2.02')],
  'a stake that the wallet never saw': ['what a movement says', (text) => text.replace('"-1.01"', '"0.00"')],
  'an event that tells of another win': [
    'a movement that succeeded',
    (text) => text.replace('evt_2","type":"transaction.win"', 'evt_2","type":"other"'),
  ],
  'an event that is told twice': ['no event is told twice', (text) => text.replace('evt_2', 'evt_1')],
  'an end that is told otherwise': [
    'round.completed says',
    (text) =>
      text.replace(
        '"type":"round.completed","data":{"round_id":"rnd_1","player_id":"ann"',
        '"type":"round.completed","data":{"round_id":"rnd_1","player_id":"bob"',
      ),
  ],
  'a nonce that is left out': ['nonces run', (text) => text.replaceAll('"nonce":1', '"nonce":2')],
  'an amount without its decimals': ['amounts have', (text) => text.replaceAll('"9.99"', '"9.9"')],
  'a balance that does not follow': [
    'balances follow',
    (text) => text.replace('{"USD":"9.99"}', '{"USD":"9.98"}'),
  ],
  'a payout above the greatest': [
    'no game pays more',
    (text) => text.replace('"maxPayouts":{}', '"maxPayouts":{"dice USD":"1.99"}'),
  ],
}
for (const [what, [broken, make]] of Object.entries(mistakes)) {
  t.test(`${what} is seen`, async (t) => {
    const text = JSON.stringify(oneRound())
    const wrong = make(text)
    t.not(wrong, text, 'the mistake was made')
    const found = violated(JSON.parse(wrong) as Books)
    t.ok(
      found.some((name) => name.startsWith(`judge: ${broken}`)),
      `${broken}: ${found.join('; ')}`,
    )
  })
}
