/** A round of mines for people who have none at hand; it verifies as any other. */
export const exampleRound = {
  round_id: 'rnd_01jd3m8x5v9k2t7q4w6e0r1y3z',
  game: 'mines',
  status: 'SETTLED',
  stake: '2.00',
  payout: '2.95',
  currency: 'EUR',
  bet: { mines: 3 },
  multiplier: '1.4785',
  outcome: { tiles_opened: [12, 7, 2], bomb_positions: [18, 8, 20], won: true },
  fairness: {
    algorithm: 'fair-v1',
    server_seed_hash: '5d438d32aa1acddab769df6db5bb756ead43ba86131ef80b00ae089d01103315',
    client_seed: 'my-own-seed',
    nonce: 7,
    server_seed: 'fac418b6f03d08819893aaf3f47c866892fef0aa81fa818166577d589d41d48e',
  },
  driver: 'game',
}
