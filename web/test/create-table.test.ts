import { mock } from 'node:test'
import t from 'tap'
import { ApiError } from '../src/api/api-error.ts'
import type { GameApi, PlayRequest } from '../src/api/game-api.ts'
import type { Round, Sitting } from '../src/api/records.ts'
import { createTable } from '../src/play/create-table.ts'

const bet = { stake: '1.00', bet: { target: '50.00', direction: 'over' }, client_seed: 'me', free_bet: false }

function round(nonce: number, change: Partial<Round> = {}): Round {
  return {
    round_id: `rnd_${nonce}`,
    game: 'dice',
    status: 'SETTLED',
    stake: '1.00',
    payout: '0.00',
    currency: 'USD',
    free_bet: false,
    bet: bet.bet,
    multiplier: '0.0000',
    outcome: { roll: '10.00', won: false },
    progress: null,
    fairness: { server_seed_hash: `hash ${nonce}`, client_seed: 'me', nonce, server_seed: 'seed' },
    created_at: '2026-11-20T09:30:00.000Z',
    end_reason: null,
    ...change,
  }
}

function sitting(nonce: number, change: Partial<Sitting> = {}): Sitting {
  return {
    session: {
      session_id: 'ses_1',
      status: 'ACTIVE',
      game: 'dice',
      currency: 'USD',
      environment: 'SANDBOX',
      return_url: null,
      limits: null,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    },
    game: { slug: 'dice', name: 'Dice', enabled: true, status: 'AVAILABLE', rtp: '0.9900', limits: [] },
    balance: { amount: '10.00', currency: 'USD' },
    open_round: null,
    next_round: { server_seed_hash: `hash ${nonce}`, nonce },
    free_bets: [],
    ...change,
  }
}

/** A table at a service that answers as told; what is not told is refused. */
function tableWith(t: { teardown(fn: () => void): void }, answers: Partial<GameApi>) {
  const refuse = () => Promise.reject(new ApiError('NOT_FOUND', 'not told'))
  const api: GameApi = {
    sitting: () => Promise.resolve(sitting(1)),
    rounds: () => Promise.resolve({ data: [], next_cursor: null }),
    play: refuse,
    round: refuse,
    reveal: refuse,
    cashOut: refuse,
    answerCheck: refuse,
    receipt: refuse,
    ...answers,
  }
  const table = createTable({ api, slug: 'dice', revealMs: () => 0 })
  t.teardown(() => table.leave())
  return table
}

t.test('a bet whose answer is lost is asked for again as the same bet', async (t) => {
  const asked: PlayRequest[] = []
  let nonce = 1
  const table = tableWith(t, {
    sitting: () => Promise.resolve(sitting(nonce)),
    play(request) {
      asked.push(request)
      if (asked.length === 1) return Promise.reject(new ApiError('NO_ANSWER', 'lost'))
      nonce = 2
      return Promise.resolve(round(1))
    },
  })
  await table.open()
  await table.place(bet)
  t.equal(asked.length, 2)
  t.equal(asked[0]?.transaction_id, asked[1]?.transaction_id)
  t.equal(table.state().history.length, 1)
  t.equal(table.state().sitting?.next_round.nonce, 2, 'the next commitment is there before the next bet')
})

t.test('a wallet time-out leads to the round that it left, not to a second bet', async (t) => {
  let looks = 0
  const table = tableWith(t, {
    play: () => Promise.reject(new ApiError('WALLET_TIMEOUT', 'late', { roundId: 'rnd_1' })),
    round(roundId) {
      t.equal(roundId, 'rnd_1')
      looks += 1
      return Promise.resolve(
        looks === 1
          ? round(1, { status: 'PENDING', outcome: null, payout: null, multiplier: null })
          : round(1),
      )
    },
  })
  const waits = new Set<string | null>()
  table.subscribe(() => waits.add(table.state().waiting))
  await table.open()
  await table.place(bet)
  t.ok(waits.has('confirming'))
  t.equal(table.state().round?.status, 'SETTLED')
  t.equal(table.state().waiting, null)
})

t.test('a refused bet shows why, and the next commitment before another bet is taken', async (t) => {
  let refused = false
  const states: string[] = []
  const table = tableWith(t, {
    sitting: () => Promise.resolve(sitting(refused ? 2 : 1)),
    play() {
      refused = true
      return Promise.reject(new ApiError('INSUFFICIENT_FUNDS', 'too little'))
    },
  })
  await table.open()
  table.subscribe(() => {
    const { activity, sitting: now } = table.state()
    states.push(`${activity} ${now?.next_round.nonce}`)
  })
  await table.place(bet)
  t.notOk(states.includes('idle 1'))
  t.equal(states.at(-1), 'idle 2')
  t.match(table.state().notice?.text, 'balance is too low')
})

t.test('an ended session takes no bet, and its open round can be finished', async (t) => {
  const open = round(1, {
    status: 'OPEN',
    outcome: null,
    payout: null,
    progress: { tiles_opened: [3], next_multiplier: '1.2' },
  })
  const closed = sitting(2, { open_round: open, session: { ...sitting(2).session, status: 'CLOSED' } })
  let finished = false
  const table = tableWith(t, {
    sitting: () => Promise.resolve(finished ? { ...closed, open_round: null } : closed),
    cashOut() {
      finished = true
      return Promise.resolve(round(1))
    },
  })
  await table.open()
  t.equal(table.state().ended, 'CLOSED')
  await table.place(bet)
  t.equal(table.state().round?.status, 'OPEN', 'no bet was placed')
  await table.cashOut()
  t.equal(table.state().round?.status, 'SETTLED')
})

t.test(
  'without a token, with one that has ended or with one for another game, the table stays locked',
  async (t) => {
    const none = createTable({ api: null, slug: 'dice', revealMs: () => 0 })
    await none.open()
    t.equal(none.state().locked, 'no-token')
    const ended = tableWith(t, { sitting: () => Promise.reject(new ApiError('TOKEN_EXPIRED', 'over')) })
    await ended.open()
    t.equal(ended.state().locked, 'token-ended')
    const other = sitting(1)
    const foreign = tableWith(t, {
      sitting: () => Promise.resolve({ ...other, session: { ...other.session, game: 'mines' } }),
    })
    await foreign.open()
    t.equal(foreign.state().locked, 'other-game')
  },
)

/** Time passes when the test says so. */
function holdTime(t: { teardown(fn: () => void): void }) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  return (ms: number) => mock.timers.tick(ms)
}

t.test('a bet that comes too early is held back as long as the service says', async (t) => {
  const pass = holdTime(t)
  let bets = 0
  const table = tableWith(t, {
    play() {
      bets += 1
      return bets === 1
        ? Promise.reject(new ApiError('RATE_LIMITED', 'too early', { retryAfterS: 4 }))
        : Promise.resolve(round(1))
    },
  })
  await table.open()
  await table.place(bet)
  t.equal(table.state().heldUntilMs, Date.now() + 4000)
  pass(3999)
  await table.place(bet)
  t.equal(bets, 1, 'no bet is sent meanwhile')
  pass(1)
  t.equal(table.state().heldUntilMs, null)
  table.subscribe(() => {
    if (table.state().activity === 'showing') queueMicrotask(() => pass(1))
  })
  await table.place(bet)
  t.equal(bets, 2)
})

t.test('one press places one bet, and the next waits until the result was shown', async (t) => {
  const pass = holdTime(t)
  const shown = Promise.withResolvers<void>()
  let bets = 0
  const api: GameApi = {
    sitting: () => Promise.resolve(sitting(bets + 1)),
    rounds: () => Promise.resolve({ data: [], next_cursor: null }),
    play() {
      bets += 1
      return Promise.resolve(round(bets))
    },
    ...{ round: unasked, reveal: unasked, cashOut: unasked, answerCheck: unasked, receipt: unasked },
  }
  const table = createTable({ api, slug: 'dice', revealMs: () => 1500 })
  t.teardown(() => table.leave())
  await table.open()
  table.subscribe(() => {
    if (table.state().activity === 'showing') shown.resolve()
  })
  const placing = table.place(bet)
  await shown.promise
  await table.place(bet)
  pass(1499)
  await table.place(bet)
  t.equal(bets, 1, 'nothing shortens the result')
  pass(1)
  await placing
  t.equal(bets, 1, 'no bet follows by itself')
  pass(60_000)
  t.equal(bets, 1)
})

t.test('a reality check interrupts play until the player goes on or stops', async (t) => {
  const pass = holdTime(t)
  const choices: string[] = []
  let dueInS = 60
  const seated = () => ({
    ...sitting(1, {
      protection: {
        elapsed_s: 1740,
        net_spend: { amount: '3.00', currency: 'USD' },
        reality_check: { due_in_s: dueInS },
      },
    }),
    ...(choices.at(-1) === 'stop' ? { session: { ...sitting(1).session, status: 'CLOSED' as const } } : {}),
  })
  let bets = 0
  const table = tableWith(t, {
    sitting: () => Promise.resolve(seated()),
    play() {
      bets += 1
      return Promise.resolve(round(1))
    },
    answerCheck(choice) {
      choices.push(choice)
      return Promise.resolve()
    },
  })
  await table.open()
  await table.answerCheck('continue')
  t.strictSame(choices, [], 'nothing to answer yet')
  pass(60_000)
  t.equal(table.state().checking, true)
  await table.place(bet)
  t.equal(bets, 0)
  await table.answerCheck('continue')
  t.equal(table.state().checking, false)
  dueInS = 0
  await table.refresh()
  t.equal(table.state().checking, true, 'a table that is opened while it is due asks at once')
  await table.answerCheck('stop')
  t.equal(table.state().ended, 'CLOSED')
  t.equal(table.state().checking, false)
  t.strictSame(choices, ['continue', 'stop'])
})

const unasked = () => Promise.reject(new ApiError('NOT_FOUND', 'not told'))

t.test('what the page showed of a round is told once, and a refusal is in nobody’s way', async (t) => {
  const told: { roundId: string; text: string }[] = []
  const table = tableWith(t, {
    receipt(roundId, { text }) {
      told.push({ roundId, text })
      return Promise.reject(new ApiError('SERVICE_UNAVAILABLE', 'not now'))
    },
  })
  await table.open()
  const before = table.state()
  const shown = { build: 'dice-1.js', language: 'en', text: 'Rolled 10.00. No win this time.' }
  for (const _again of [1, 2]) await table.receipt({ roundId: 'rnd_1', ...shown })
  await table.receipt({ roundId: 'rnd_2', ...shown })
  t.strictSame(
    told.map(({ roundId }) => roundId),
    ['rnd_1', 'rnd_2'],
  )
  t.equal(table.state(), before)
})
