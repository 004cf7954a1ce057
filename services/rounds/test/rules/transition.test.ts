import { gameBySlug } from '@pitboss/fairness/games/registry'
import { DEFAULT_RTP } from '@pitboss/fairness/games/game'
import { seedHash } from '@pitboss/fairness/server-seed'
import { multiplyFloor } from '@pitboss/money/rational'
import type { RoundContext, RoundMessage } from '../../src/rules/round-message.ts'
import { isUnfinished, type RoundState, roundTotals } from '../../src/rules/round.ts'
import { transition } from '../../src/rules/transition.ts'
import { presentRound } from '../../src/records/present-round.ts'
import fc from 'fast-check'
import t from 'tap'

const serverSeed = 'a'.repeat(64)
const start = new Date('2026-11-20T09:30:00.000Z')

/** The table of docs/contract.md, section 4; ends of PENDING that play at once are its steps in one write. */
const allowed: Record<RoundState['status'], readonly RoundState['status'][]> = {
  PENDING: ['PENDING', 'OPEN', 'SETTLING', 'SETTLED', 'FAILED', 'VOIDED'],
  OPEN: ['OPEN', 'SETTLING', 'SETTLED', 'VOIDED'],
  SETTLING: ['SETTLING', 'SETTLED', 'OPEN'],
  SETTLED: ['SETTLED'],
  VOIDED: ['VOIDED'],
  FAILED: ['FAILED'],
}

function newState(more: Partial<RoundState>): RoundState {
  return {
    id: 'rnd_01jd5r7mq8v3k9x2c4n6p0s1tw',
    operatorId: '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a41',
    environment: 'SANDBOX',
    playerId: 'p',
    game: 'mines',
    sessionId: 'ses_01jd5r7mq8v3k9x2c4n6p0s1tw',
    brandId: null,
    currency: 'USD',
    driver: 'game',
    status: 'PENDING',
    nonce: 1,
    serverSeedHash: seedHash(serverSeed),
    sealedSeed: '',
    clientSeed: null,
    serverSeed: null,
    walletRoundId: '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a42',
    walletGameId: '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a43',
    bet: { mines: 3 },
    stake: 100n,
    maxPayout: 100_000n,
    freeBet: false,
    grantId: null,
    grantReturn: null,
    settleLosses: 'none',
    requestHash: 'h',
    clientTransactionId: null,
    stakes: [
      { transactionId: 't0', minor: 100n, requestHash: 'h', state: 'ASKED', wasTaken: false, refusal: null },
    ],
    wins: [],
    reversals: [],
    rollbackTransactionId: 'rbk_x',
    actions: [],
    multiplier: null,
    progress: null,
    outcome: null,
    payout: null,
    endReason: null,
    finalAction: null,
    started: false,
    refusal: null,
    createdAt: start,
    lastActionAt: start,
    sittingEndsAt: start,
    updatedAt: start,
    completedAt: null,
    history: [],
    ...more,
  }
}

function contextFor(round: RoundState): RoundContext {
  let wins = 0
  return {
    now: start,
    winId: () => `t${5 + wins++}`,
    refundId: () => 't9',
    serverSeed,
    play(actions, cashOut) {
      const parsed = gameBySlug(round.game)?.parseBet(round.bet)
      if (parsed?.ok !== true) throw new Error('no bet')
      return parsed.wager.play({
        seeds: { serverSeed, clientSeed: round.clientSeed, nonce: round.nonce },
        rtp: DEFAULT_RTP,
        actions,
        cashOut,
        payoutFits: (multiplier) => multiplyFloor(round.stake, multiplier) <= round.maxPayout,
      })
    },
  }
}

const id = fc.constantFrom('t0', 't1', 't2', 't5', 't6', 't9')
const minor = fc.constantFrom(0n, 1n, 100n)
const message: fc.Arbitrary<RoundMessage> = fc.oneof(
  fc.record({ type: fc.constant('stake-taken' as const), transactionId: id }),
  fc.record({
    type: fc.constant('stake-refused' as const),
    transactionId: id,
    code: fc.constant('WALLET_REJECTED' as const),
  }),
  fc.record({
    type: fc.constant('stake-returned' as const),
    transactionId: id,
    refusal: fc.constant(null),
  }),
  fc.constantFrom(
    { type: 'grant-used' as const },
    { type: 'grant-denied' as const },
    { type: 'grant-returned' as const },
    { type: 'cash-out' as const },
    { type: 'abandon' as const, since: start },
  ),
  fc.record({ type: fc.constant('reveal' as const), tile: fc.integer({ min: 0, max: 24 }) }),
  fc.record({
    type: fc.constant('end-as-told' as const),
    play: fc.option(
      fc.record({ actions: fc.array(fc.integer({ min: 0, max: 24 }), { maxLength: 4 }), payout: minor }),
    ),
    endReason: fc.constantFrom('cashout', 'loss', 'abandoned', 'win_failed'),
  }),
  fc.record({
    type: fc.constant('learn-end-reason' as const),
    endReason: fc.constantFrom('abandoned', 'returned'),
  }),
  fc.record({
    type: fc.constantFrom('win-paid' as const, 'win-failed' as const, 'withdraw' as const),
    transactionId: id,
  }),
  fc.record({
    type: fc.constantFrom('reversal-done' as const, 'reversal-failed' as const),
    transactionId: id,
  }),
  fc.record({
    type: fc.constant('add-stake' as const),
    stake: fc.record({
      transactionId: id,
      minor,
      requestHash: fc.constant('h'),
      state: fc.constant('ASKED' as const),
      wasTaken: fc.constant(false),
      refusal: fc.constant(null),
    }),
  }),
  fc.record({
    type: fc.constant('add-win' as const),
    outcome: fc.constant(null),
    win: fc.record({
      transactionId: id,
      minor,
      requestHash: fc.constant('h'),
      final: fc.boolean(),
      state: fc.constant('OWED' as const),
    }),
  }),
  fc.record({
    type: fc.constant('add-reversal' as const),
    reversal: fc.record({
      transactionId: id,
      referenceTransactionId: id,
      type: fc.constantFrom('REFUND' as const, 'ROLLBACK' as const),
      requestHash: fc.constant('h'),
      closes: fc.constant(false),
      state: fc.constant('OWED' as const),
    }),
  }),
)

const starts: fc.Arbitrary<RoundState> = fc.constantFrom(
  newState({}),
  newState({ bet: { mines: 24 } }),
  newState({ settleLosses: 'zero_credit' }),
  newState({ game: 'dice', bet: { target: '50.00', direction: 'over' } }),
  newState({ game: 'spin-bottle', bet: { pick: 0, sectors: 2 } }),
  newState({ freeBet: true, grantId: 'frb_x', stakes: [] }),
  newState({ driver: 'operator', bet: null }),
)

t.test('every message is answered in every state, by the table alone', async (t) => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(starts, fc.array(message, { maxLength: 30 }), (first, messages) => {
      let round = first
      let started = 0
      let completed = 0
      let rounds = 0
      const reported = { stakes: 0n, payouts: 0n, refunds: 0n }
      for (const one of messages) {
        const change = transition(round, one, contextFor(round))
        seen.add(`${round.status} ${one.type}`)
        if (change.kind !== 'changed') continue
        const after = change.round
        fc.pre(allowed[round.status].includes(after.status) || fail(`${round.status} → ${after.status}`))
        if (round.status === 'SETTLING' && after.status === 'OPEN' && one.type !== 'withdraw')
          fail('reopened')
        started += change.events.filter((type) => type === 'round.started').length
        completed += change.events.filter((type) => type === 'round.completed').length
        if (change.fact !== null) {
          rounds += change.fact.rounds
          reported.stakes += change.fact.stakes
          reported.payouts += change.fact.payouts
          reported.refunds += change.fact.refunds
        }
        if (isUnfinished(after) && after.serverSeed !== null) fail('seed shown too early')
        const shown = presentRound(after)
        const early = after.status === 'PENDING' || after.status === 'OPEN'
        if (early && (shown.outcome !== null || shown.payout !== null)) fail('outcome shown too early')
        if (after.driver === 'game' && after.wins.length > 1) fail('two wins')
        if (after.payout !== null && after.driver === 'game' && after.payout > after.maxPayout) fail('max')
        round = after
      }
      const terminal = !isUnfinished(round)
      if (started > 1) fail('started twice')
      if (completed !== (terminal && started === 1 ? 1 : 0)) fail('not completed exactly once')
      if (rounds !== completed) fail('not counted exactly once')
      if (terminal && started === 1) {
        const totals = roundTotals(round)
        const differs =
          totals.stakes !== reported.stakes ||
          totals.payouts !== reported.payouts ||
          totals.refunds !== reported.refunds
        if (differs) fail('report and round differ')
        const isPlayed = round.driver === 'game' && round.status === 'SETTLED'
        if (isPlayed && round.payout !== totals.payouts) fail('record and report differ')
      }
      if (terminal && round.serverSeed !== serverSeed) fail('seed not revealed')
    }),
    { numRuns: 3000, seed: 7 },
  )
  t.ok(seen.size > 80, `${seen.size} pairs of state and message`)
})

t.test('a late success of a voided stake changes nothing', async (t) => {
  const first = newState({})
  const voided = apply(first, { type: 'stake-returned', transactionId: 't0', refusal: null })
  t.equal(voided.status, 'VOIDED')
  const late = transition(voided, { type: 'stake-taken', transactionId: 't0' }, contextFor(voided))
  t.equal(late.kind, 'unchanged')
})

t.test('a bet and its win, driven by the operator', async (t) => {
  const open = apply(newState({ driver: 'operator', bet: null }), {
    type: 'stake-taken',
    transactionId: 't0',
  })
  t.equal(open.status, 'OPEN')
  const win = { transactionId: 't1', minor: 0n, requestHash: 'h', final: true, state: 'OWED' } as const
  const settling = apply(open, { type: 'add-win', win, outcome: { reel: 7 } })
  t.match(settling, { status: 'SETTLING', payout: 0n, endReason: 'settled' })
  const repeated = transition(settling, { type: 'add-win', win, outcome: null }, contextFor(settling))
  t.equal(repeated.kind, 'unchanged', 'the same intent twice is one')
  const back = {
    transactionId: 't2',
    referenceTransactionId: 't0',
    type: 'REFUND',
    requestHash: 'h',
    closes: false,
    state: 'OWED',
  } as const
  t.match(transition(settling, { type: 'add-reversal', reversal: back }, contextFor(settling)), {
    kind: 'refused',
    code: 'ROUND_ALREADY_SETTLED',
  })
  const settled = apply(settling, { type: 'win-paid', transactionId: 't1' })
  t.equal(settled.status, 'SETTLED')
})

t.test('stakes and wins of a round together stay amounts', async (t) => {
  const open = apply(newState({ driver: 'operator', bet: null }), {
    type: 'stake-taken',
    transactionId: 't0',
  })
  const big = { minor: 60_000_000_000_000_000n, requestHash: 'h' }
  const tooMuch = { kind: 'refused', code: 'VALIDATION_ERROR', path: 'amount' }
  const winOf = (transactionId: string, final: boolean) =>
    ({
      type: 'add-win',
      win: { ...big, transactionId, final, state: 'OWED' },
      outcome: null,
    }) as const
  const won = apply(open, winOf('t1', false))
  for (const final of [false, true])
    t.match(transition(won, winOf('t2', final), contextFor(won)), tooMuch, `final: ${final}`)
  const stakeOf = (transactionId: string) => {
    const stake = { ...big, transactionId, state: 'ASKED', wasTaken: false, refusal: null } as const
    return { type: 'add-stake', stake } as const
  }
  const staked = apply(open, stakeOf('t3'))
  t.match(transition(staked, stakeOf('t4'), contextFor(staked)), tooMuch)
})

t.test('no stake joins a round whose last one is on its way back', async (t) => {
  const open = apply(newState({ driver: 'operator', bet: null }), {
    type: 'stake-taken',
    transactionId: 't0',
  })
  const reversal = {
    transactionId: 't1',
    referenceTransactionId: 't0',
    type: 'REFUND',
    requestHash: 'h',
    closes: false,
    state: 'OWED',
  } as const
  const returning = apply(open, { type: 'add-reversal', reversal })
  t.match(returning.reversals, [{ closes: true }])
  const next = {
    transactionId: 't2',
    minor: 100n,
    requestHash: 'h',
    state: 'ASKED',
    wasTaken: false,
    refusal: null,
  } as const
  const step = transition(returning, { type: 'add-stake', stake: next }, contextFor(returning))
  t.match(step, { kind: 'refused', code: 'ROUND_IN_PROGRESS' })
})

function apply(round: RoundState, one: RoundMessage): RoundState {
  const change = transition(round, one, contextFor(round))
  if (change.kind !== 'changed') throw new Error(`${one.type} in ${round.status}: ${change.kind}`)
  return change.round
}

function fail(why: string): never {
  throw new Error(why)
}

t.test('a round is not abandoned in which the player has acted since', (t) => {
  const taken = { transactionId: 't0', minor: 100n, requestHash: 'h', state: 'TAKEN' } as const
  const open = newState({
    status: 'OPEN',
    started: true,
    stakes: [{ ...taken, wasTaken: true, refusal: null }],
    actions: [0],
    lastActionAt: new Date(start.getTime() + 1),
  })
  t.equal(transition(open, { type: 'abandon', since: start }, contextFor(open)).kind, 'unchanged')
  const left = transition(open, { type: 'abandon', since: open.lastActionAt }, contextFor(open))
  t.equal(left.kind === 'changed' ? left.round.endReason : null, 'abandoned')
  t.end()
})
