/** The last run in which each test of docs/compliance.md passed; `npm run compliance` writes it. */
export const greenRuns: Readonly<Record<string, string>> = {
  'services/rounds/test/jurisdictions.test.ts: a reality check holds new stakes until the player goes on or stops':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/jurisdictions.test.ts: a stake that comes too early moves nothing, and its id is as good as new':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/jurisdictions.test.ts: a start holds back the player in every game and session with the rule':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/jurisdictions.test.ts: a start outlives the process that accepted it':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/jurisdictions.test.ts: of starts at once on two replicas one is accepted':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/jurisdictions.test.ts: the last rounds can be recalled from another session':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/jurisdictions.test.ts: time and net spend of the session are in view':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/player-limits.test.ts: a limit of time refuses stakes and free bets once it is used up':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/player-limits.test.ts: a stake beyond a limit is refused in every game and session, and leaves nothing':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/player-limits.test.ts: limits are lowered at once and raised after a day':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/player-limits.test.ts: of stakes at once on two replicas no more are taken than the limit allows':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/stake-caps.test.ts: a cap holds a free bet, too, and a session without one is not held':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/stake-caps.test.ts: a cap is only taken where the jurisdiction has it, in its currency':
    '2026-11-26T11:57:37.452Z',
  'services/rounds/test/stake-caps.test.ts: a stake above the cap of its session is refused by name, and leaves nothing':
    '2026-11-26T11:57:37.452Z',
  'web/test/create-table.test.ts: a bet that comes too early is held back as long as the service says':
    '2026-11-26T11:57:37.452Z',
  'web/test/create-table.test.ts: a reality check interrupts play until the player goes on or stops':
    '2026-11-26T11:57:37.452Z',
  'web/test/create-table.test.ts: one press places one bet, and the next waits until the result was shown':
    '2026-11-26T11:57:37.452Z',
}
