import t from 'tap'
import { explainRound } from '../src/parts/explain-round.ts'

const fairness = {
  algorithm: 'fair-v1',
  server_seed_hash: '92a94e8c23510695d92e123725ecd728e54bd251c0ec4b4c422bd16aa34567f9',
  client_seed: 'bb62964774',
  nonce: 1,
  server_seed: '18e93f4a7b5b58d2569765766d1b6c3296bbd8430d6f20249044d72f14720159',
}
const common = { player_id: 'p', stake: '10.00', currency: 'USD', free_bet: false, driver: 'game', fairness }
const mines = {
  ...{
    ...common,
    game: 'mines',
    status: 'SETTLED',
    bet: { mines: 3 },
    payout: '12.85',
    multiplier: '1.2857',
  },
  outcome: { tiles_opened: [0, 1], bomb_positions: [19, 22, 7], won: true },
}
const bet = { target: '50.00', direction: 'over' }
const voided = {
  ...common,
  game: 'dice',
  status: 'VOIDED',
  bet,
  outcome: null,
  multiplier: null,
  payout: '0.00',
}

t.test('the steps of the draw can be followed', async (t) => {
  const explained = explainRound(mines)
  t.equal(explained?.serverSeedHash, fairness.server_seed_hash)
  t.same(
    explained?.draws.map(({ range }) => range),
    [25, 24, 23],
  )
  t.same(explained?.draws[0]?.messages, ['bb62964774:1:0'])
  t.same(explainRound(voided)?.draws, [])
  t.equal(explainRound({}), null)
})
