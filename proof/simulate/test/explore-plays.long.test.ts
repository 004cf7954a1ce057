import t from 'tap'
import { explorePlays, type Mistake, type Plan } from './fixtures/explore-plays.ts'

/** The large ones by hand: PITBOSS_EXPLORE_PLAYS=all. */
const withLarge = process.env.PITBOSS_EXPLORE_PLAYS === 'all'
const statesMax = 1_000_000

const stake = { kind: 'play', id: 'same' } as const
const free = { kind: 'play', id: 'same', free: true } as const
const bet = { kind: 'bet', id: 'same' } as const
const anonymous = { kind: 'play', id: null } as const
const other = { kind: 'play', id: 'other' } as const
const page = { kind: 'look' } as const
const sweeper = { kind: 'sweep' } as const
const successor = { kind: 'sweep', haveExited: true } as const
const everyEnd = ['taken', 'refused', 'breaker open', 'request lost', 'answer lost'] as const
const mayComeLate = ['taken', 'breaker open', 'request late', 'answer lost'] as const
const mayBeTakenBack = ['taken', 'breaker open'] as const

const plans = {
  'two equal stakes, whatever becomes of them': {
    asked: { a: stake, b: stake },
    ends: everyEnd,
    mortal: 'a',
  },
  'two equal free bets, one of which may die': { asked: { a: free, b: free }, freeBets: 5, mortal: 'a' },
  "two equal stakes of the operator's": { asked: { a: bet, b: bet }, ends: everyEnd, mortal: 'a' },
  'the same id with two bodies': { asked: { a: stake, b: { ...stake, stake: '2.00' } }, ends: everyEnd },
  'a tab before a breaker, and the page of the next commitment': {
    asked: { a: anonymous, page },
    ends: mayBeTakenBack,
  },
  'a free bet beside a sweep, as the grant comes and goes': {
    asked: { a: free, sweeper, grant: { kind: 'grant comes and goes' } },
    freeBets: 1,
    mortal: 'a',
  },
  'equal free bets beside a sweep': { asked: { a: free, b: free, sweeper }, freeBets: 5, mortal: 'a' },
  'a stake that is taken back beside a sweep and another': {
    asked: { a: stake, other, sweeper },
    ends: ['breaker open'],
  },
  'a stake that may come late, and the process after the one that asked for it': {
    asked: { a: stake, successor },
    ends: mayComeLate,
    mortal: 'a',
  },
  "a stake of the operator's that may come late, and the process after the one that asked for it": {
    asked: { a: bet, successor },
    ends: mayComeLate,
    mortal: 'a',
  },
} as const satisfies Record<string, Plan>

const back = { kind: 'rollback', id: 'back', of: 'same' } as const
const beforeItsStake: Plan = {
  asked: { bet, back },
  ends: ['taken', 'breaker open'],
  mortal: 'bet',
}
const beforeItsWin: Plan = {
  asked: { win: { kind: 'win', id: 'same' }, back },
  isOpen: true,
  mortal: 'win',
}

const besideAnother: Plan = { asked: { a: stake, b: stake, other } }

const winsBesideAStake: Plan = {
  asked: {
    a: { kind: 'win', id: 'same' },
    b: { kind: 'win', id: 'same' },
    more: { kind: 'add stake', id: 'more' },
  },
  isOpen: true,
}
const stakesBesideAWin: Plan = {
  asked: {
    a: { kind: 'add stake', id: 'same' },
    b: { kind: 'add stake', id: 'same' },
    win: { kind: 'win', id: 'win' },
  },
  isOpen: true,
}

const twoTabs: Plan = { asked: { a: anonymous, b: anonymous, page }, ends: mayBeTakenBack }

const large: Record<string, Plan> = {
  'two tabs before a breaker, and the page of the next commitment': twoTabs,
  'three equal free bets and one grant': { asked: { a: free, b: free, c: free }, freeBets: 1 },
  "a page's id that the operator's server uses, too": {
    asked: { a: stake, b: stake, bet },
    ends: mayBeTakenBack,
    mortal: 'a',
  },
  'a rollback that comes before its stake beside a sweep': {
    ...beforeItsStake,
    asked: { ...beforeItsStake.asked, sweeper },
  },
  "three equal stakes of the operator's before a breaker": {
    asked: { a: bet, b: bet, c: bet },
    ends: mayBeTakenBack,
  },
  'equal wins beside a stake': winsBesideAStake,
  'equal stakes beside another that is taken': besideAnother,
  'equal stakes beside the end of their round': stakesBesideAWin,
  'three equal plays before a breaker': { asked: { a: stake, b: stake, c: stake }, ends: mayBeTakenBack },
  'equal stakes beside another': { asked: { a: stake, b: stake, other }, ends: mayBeTakenBack },
  'equal stakes beside a sweep': { asked: { a: stake, b: stake, sweeper }, ends: everyEnd, mortal: 'a' },
  "equal stakes of the operator's beside a sweep": {
    asked: { a: bet, b: bet, sweeper },
    ends: everyEnd,
    mortal: 'a',
  },
}

const withRollbacks = {
  'a rollback that comes before its stake, whoever dies': beforeItsStake,
  'a rollback that comes before its win, whoever dies': beforeItsWin,
}

for (const [name, plan] of Object.entries({ ...plans, ...withRollbacks, ...(withLarge ? large : {}) })) {
  await t.test(`no order breaks ${name}`, async (t) => {
    const { states, ends, violation } = await explorePlays(plan, { statesMax })
    t.comment(`${states} states, ${ends} ends`)
    t.equal(violation, null)
    t.ok(states > 100 && states < statesMax, 'every reachable state was visited')
  })
}

const mistakes: Record<string, { plan: Plan; mistake: Mistake }> = {
  'an id is not unique': {
    plan: plans['two equal free bets, one of which may die'],
    mistake: {
      rounds: (rounds) => ({
        ...rounds,
        insert: ({ round, ...write }, commitments) =>
          rounds.insert({ ...write, round: { ...round, clientTransactionId: null } }, commitments),
      }),
    },
  },
  'a request does not find the round that it lost to': {
    plan: plans['two equal free bets, one of which may die'],
    mistake: { rounds: (rounds) => ({ ...rounds, findRequest: async () => null }) },
  },
  'a round that may be taken back counts as over': {
    plan: plans["two equal stakes of the operator's"],
    mistake: {
      rounds: (rounds) => ({
        ...rounds,
        last: async (sequence) => ({ ...(await rounds.last(sequence)), unfinished: false }),
      }),
    },
  },
  'an intent is taken back from under a sweep': {
    plan: plans['a stake that is taken back beside a sweep and another'],
    mistake: {
      rounds: (rounds) => ({
        ...rounds,
        async remove(stored) {
          const fresh = await rounds.findAnywhere(stored.round.id)
          return fresh !== null && rounds.remove(fresh)
        },
      }),
    },
  },
  'a page shows the commitment after a round that may be taken back': {
    plan: twoTabs,
    mistake: {
      rounds: (rounds) => ({
        ...rounds,
        async lastShown(sequence) {
          const stored = await rounds.findLast(sequence)
          if (stored === null) return rounds.lastShown(sequence)
          const { nonce, unfinished, next = null } = stored.fields
          return { last: { nonce, unfinished, next }, stored }
        },
      }),
    },
  },
  'a round does not take the commitment of the one before it': {
    plan: twoTabs,
    mistake: {
      rounds: (rounds) => ({
        ...rounds,
        last: async (sequence) => ({ ...(await rounds.last(sequence)), next: null }),
      }),
    },
  },
  'what was refused is forgotten': {
    plan: besideAnother,
    mistake: { rounds: (rounds) => ({ ...rounds, killRequest: async () => true }) },
  },
  'an id of an added movement is not claimed': {
    plan: beforeItsWin,
    mistake: { bug: 'rounds.added-id-unclaimed' },
  },
  'a tombstone does not claim its id': {
    plan: beforeItsStake,
    mistake: { rounds: (rounds) => ({ ...rounds, killMovement: async () => true }) },
  },
  'a stake is forgotten that was voided before it came': {
    plan: plans['a stake that may come late, and the process after the one that asked for it'],
    mistake: { walletForgetsVoided: true },
  },
  'a grant tells one round no, and yes later': {
    plan: plans['a free bet beside a sweep, as the grant comes and goes'],
    mistake: { grantForgetsRefusals: true },
  },
}

for (const [name, { plan, mistake }] of Object.entries(mistakes)) {
  await t.test(`the search finds it when ${name}`, async (t) => {
    const { states, violation } = await explorePlays(plan, { statesMax, mistake })
    t.ok(violation !== null, 'found')
    t.comment(`${states} states: ${violation?.invariant}: ${violation?.trace.join(' → ')}`)
  })
}
