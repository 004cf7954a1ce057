import { bookKey } from '@pitboss/rounds/storage/round-stream'
import { entryId, streamKey } from '@pitboss/storage/journal/journal-keys'
import type { JournalDocument } from '@pitboss/storage/journal/journal'
import { storedOf } from '@pitboss/storage/journal/mongodb-journal'
import { BSON } from 'mongodb'
import t from 'tap'
import { checkEventData } from '../src/check/check-event-data.ts'
import { checkEvents } from '../src/check/check-events.ts'
import { checkMoney } from '../src/check/check-money.ts'
import { checkRounds } from '../src/check/check-rounds.ts'
import {
  checkRestored,
  forgottenIds,
  isExcused,
  nothingLost,
  type Restored,
  type RestoredPart,
  type RestoredService,
} from '../src/check/restored.ts'
import type { Event, LedgerEntry, Movement, Round } from '../src/check/rows.ts'
import { parseSources } from '../src/check/sources.ts'
import { lostBetween } from '../src/faults/lost-between.ts'
import { planRestore } from '../src/faults/restored-database.ts'
import { createRandom } from '../src/random.ts'
import {
  brokenBy as brokenRules,
  noRows,
  sampledAt,
  sampleMovement,
  sampleRound,
} from './fixtures/sample-rows.ts'

const at = sampledAt
const lost: RestoredPart = {
  services: ['rounds'],
  lost: new Map([['rnd_lost', { sequence: 'p/dice', nonce: 3 }]]),
  changed: new Set(['rnd_changed']),
  transactionIds: new Set(['bet-lost']),
  movements: new Map(),
}

const movement = (more: Partial<Movement>) =>
  sampleMovement({ transaction_id: 'bet-lost', round_id: 'rnd_lost', ...more })
const round = (more: Partial<Round>) => sampleRound({ fairness: { nonce: 3, server_seed: null }, ...more })

function event(type: string, roundId: string): Event {
  return { id: `evt_${type}`, type, created_at: at, environment: 'SANDBOX', data: { round_id: roundId } }
}

function brokenBy(
  given: { movements?: Movement[]; rounds?: Round[]; events?: Event[] },
  restored: RestoredPart = lost,
): string[] {
  const sources = { ...parseSources({ ...noRows, ...given }), restored }
  return brokenRules((verdict) => checkRestored(sources, verdict))
}

await t.test('a stake without its round must have gone back', (t) => {
  const name = 'restore: a stake whose round is lost went back, unless the round had ended or paid'
  t.strictSame(brokenBy({ movements: [movement({})] }), [name])
  t.strictSame(brokenBy({ movements: [movement({ status: 'REFUNDED' })] }), [])
  t.strictSame(brokenBy({ movements: [movement({})], events: [event('round.completed', 'rnd_lost')] }), [])
  const win = movement({ type: 'WIN', transaction_id: 'win-1' })
  t.strictSame(brokenBy({ movements: [movement({}), win] }), [])
  t.end()
})

await t.test('a round is paid once', (t) => {
  const wins = ['win-1', 'win-2'].map((id) =>
    movement({ type: 'WIN', transaction_id: id, round_id: 'rnd_1' }),
  )
  const name = 'restore: a round that we play is paid once'
  t.strictSame(brokenBy({ movements: wins, rounds: [round({})] }), [name])
  t.strictSame(brokenBy({ movements: wins, rounds: [round({ driver: 'operator' })] }), [])
  t.strictSame(brokenBy({ movements: wins.slice(1), rounds: [round({})] }), [])
  t.end()
})

await t.test('a nonce of which something tells is not given out again', (t) => {
  const name =
    'restore: the nonce of a lost round is given to no later one, if a stake or an event tells of it'
  const events = [event('round.started', 'rnd_lost')]
  const later = round({ round_id: 'rnd_new' })
  t.strictSame(brokenBy({ rounds: [later], events }), [name])
  t.strictSame(brokenBy({ rounds: [later], movements: [movement({ status: 'FAILED' })] }), [name])
  t.strictSame(brokenBy({ rounds: [later] }), [])
  t.strictSame(brokenBy({ rounds: [round({ ...later, game: 'mines' })], events }), [])
  t.strictSame(brokenBy({ rounds: [round({ round_id: 'rnd_1' })], events }), [], 'an earlier one')
  const behind = (sequence: string, nonce: number) => {
    const both = new Map([...lost.lost, ['rnd_free', { sequence, nonce }]])
    return { ...lost, lost: both }
  }
  const stake = { rounds: [later], movements: [movement({ status: 'FAILED' })] }
  t.strictSame(brokenBy(stake, behind('p/dice', 2)), [], 'behind one of which nothing tells')
  t.strictSame(brokenBy(stake, behind('p/dice', 4)), [name], 'before such a one')
  t.strictSame(brokenBy(stake, behind('p/mines', 2)), [name], 'beside one of another game')
  t.strictSame(brokenBy({ rounds: [later], events }, behind('p/dice', 2)), [name], 'an event tells the nonce')
  t.end()
})

await t.test('each lost round explains two gaps of its nonce sequence at most', (t) => {
  const name = 'rounds: nonces run 1, 2, 3 … without gaps'
  const brokenWith = (...nonces: number[]) => {
    const own = nonces.map((nonce) =>
      sampleRound({ round_id: `rnd_${nonce}`, player_id: 'p', fairness: { nonce, server_seed: null } }),
    )
    const sources = { ...parseSources({ ...noRows, rounds: own }), restored: lost }
    return brokenRules((verdict) => checkRounds(sources, verdict)).includes(name)
  }
  t.equal(brokenWith(1, 2, 4, 5), false, 'its own nonce, 3')
  t.equal(brokenWith(1, 2, 5), false, 'and the place that it takes behind all that are known')
  t.equal(brokenWith(1, 2, 6), true)
  t.equal(brokenWith(1, 2, 2), true)
  t.end()
})

await t.test('answers about what was lost are excused, and no others', (t) => {
  const told = (id: string, body: Record<string, unknown> = {}) => ({
    ...{ at, sentAtMs: 0, answeredAtMs: 0, what: 'movement' as const, id, asked: {}, token: '' },
    answer: { status: 200, body },
  })
  t.equal(isExcused(told('bet-lost'), lost), true)
  t.equal(isExcused(told('bet-2', { round_id: 'rnd_changed' }), lost), true)
  t.equal(isExcused(told('bet-2', { resource: { round_id: 'rnd_lost' } }), lost), true)
  t.equal(isExcused(told('bet-2', { round_id: 'rnd_1' }), lost), false)
  t.equal(isExcused(told('bet-lost'), null), false)
  t.end()
})

await t.test('a run has one restore at most, long before its end', (t) => {
  const seeds = Array.from({ length: 400 }, (_, seed) => createRandom(seed))
  const drawn = seeds.flatMap((random) => planRestore(450, random, null) ?? [])
  t.ok(drawn.length > 50 && drawn.length < 150, `${drawn.length} of 400`)
  t.ok(drawn.every(({ copyAfterMs, ageMs }) => copyAfterMs + ageMs <= 450_000 - 90_000))
  const sets = new Set(drawn.map(({ services }) => services.join('+')))
  const both = ['rounds+wallet-bridge', 'wallet-bridge+rounds']
  t.strictSame(sets, new Set(['rounds', 'wallet-bridge', 'webhooks', ...both]), 'each is drawn')
  t.equal(seeds.flatMap((random) => planRestore(60, random, null) ?? []).length, 0)
  const asked = seeds.flatMap((random) => planRestore(60, random, 'webhooks') ?? [])
  t.strictSame(new Set(asked.map(({ services }) => services.join('+'))), new Set(['webhooks']))
  t.equal(asked.length, 400)
  t.end()
})

await t.test('what stays lost of wallet-bridge is what does not stand, or went with its round', (t) => {
  const restored: RestoredPart = {
    ...lost,
    services: ['rounds', 'wallet-bridge'],
    movements: new Map([
      ['bet-back', 'rnd_1'],
      ['bet-stands', 'rnd_1'],
      ['bet-lost', 'rnd_lost'],
      ['win-changed', 'rnd_changed'],
      ['bet-healed', 'rnd_lost'],
    ]),
  }
  const entry = (transaction_id: string, status: string): LedgerEntry => ({
    ...{ seq: 1, at, operation: 'debit', reference: 'txn_1', reference_transaction_id: null, round_id: 'w' },
    ...{ player_id: 'p', currency: 'JPY', amount: '100', effect: '-100', transaction_id, status },
  })
  const ledger = [
    entry('bet-back', 'ROLLED_BACK'),
    ...['bet-stands', 'bet-lost', 'win-changed', 'bet-healed'].map((id) => entry(id, 'APPLIED')),
  ]
  const movements = [sampleMovement({ transaction_id: 'bet-healed' })]
  const sources = { ...parseSources({ ...noRows, ledger, movements }), restored }
  t.strictSame([...forgottenIds(sources)], ['bet-back', 'bet-lost', 'win-changed'])
  const kept = [...movements, sampleMovement({ transaction_id: 'win-changed' })]
  t.ok(forgottenIds({ ...sources, movements: kept }).has('win-changed'), 'as it was at the copy')
  t.equal(forgottenIds({ ...sources, restored: null }).size, 0)
  const phantoms = (balance: string) => {
    const given = { ...sources, balances: new Map([['p', { JPY: balance }]]) }
    return brokenRules((verdict) => checkMoney(given, () => '1000.00', verdict))
  }
  const phantom = 'money: the wallet holds nothing that is not a movement here'
  t.ok(phantoms('600').includes(phantom), 'the one that stands and has its round')
  t.end()
})

await t.test('what wallet-bridge lost and was asked for again has another reference alone', (t) => {
  const movement = sampleMovement({ transaction_id: 'bet-again', reference: 'txn_2' })
  const { reference: _, ...told } = { ...movement, session_id: 's' }
  const broken = (movements: [string, string][], more: object) => {
    const data = { ...told, reference: 'txn_1', ...more }
    const events = [{ ...event('transaction.bet', 'rnd_1'), data }]
    const rows = { ...noRows, movements: [{ ...movement, session_id: 's' }], events }
    const restored = { ...nothingLost(['wallet-bridge']), movements: new Map(movements) }
    return brokenRules((verdict) => checkEventData({ ...parseSources(rows), restored }, verdict))
  }
  const name = 'events: the event of a movement says what the record says'
  t.strictSame(broken([], {}), [name])
  t.strictSame(broken([['bet-again', 'rnd_1']], {}), [])
  t.strictSame(broken([['bet-again', 'rnd_1']], { amount: '200' }), [name])
  t.end()
})

await t.test('a copy lacks the movements that its journal does not know as they are', (t) => {
  const stream = streamKey('op', 'SANDBOX', 'rnd_1')
  const movement = (transactionId: string, status: string) => ({
    ...{ operatorId: 'op', environment: 'SANDBOX', roundId: 'rnd_1', transactionId, status },
  })
  const entry = (number: number, ...f: object[]) => ({
    ...{ _id: entryId(stream, number), w: String(number), o: 'ins_1', q: number, at: new Date(0), f },
  })
  const copyOf = (...documents: JournalDocument<unknown>[]) =>
    new Map([['journal', new Map(documents.map((one) => [one._id, BSON.serialize(storedOf(one))] as const))]])
  const [kept, changed] = [movement('bet-kept', 'SUCCESS'), movement('bet-changed', 'PENDING')]
  const first = entry(1, { base: kept })
  const second = entry(2, { base: changed })
  const taken = { of: 'bet-changed', set: { status: 'SUCCESS' } }
  const ends = entry(3, taken, { base: movement('win', 'PENDING') })
  const restored: Restored = { services: ['wallet-bridge'], parts: new Map() }
  lostBetween(copyOf(first, second), copyOf(first, second, ends), 'wallet-bridge', restored)
  t.strictSame(
    restored.parts.get('op/SANDBOX')?.movements,
    new Map([
      ['bet-changed', 'rnd_1'],
      ['win', 'rnd_1'],
    ]),
  )
  t.end()
})

await t.test('a round is lost whose intent had not won its claims when the copy was made', (t) => {
  const chain = 'op/SANDBOX/dice/p'
  const copyOf = (...documents: JournalDocument<unknown>[]) =>
    new Map([['journal', new Map(documents.map((one) => [one._id, BSON.serialize(storedOf(one))] as const))]])
  const intent = (id: string, w: string) => {
    const base = {
      ...{ _id: id, operatorId: 'op', environment: 'SANDBOX', playerId: 'p', game: 'dice', driver: 'game' },
      ...{ scope: 'op/SANDBOX', chain, nonce: 3, transactionIds: [], clientTransactionId: null },
      ...{ stake: '1', maxPayout: '1', payout: null, stakes: [], wins: [], bet: '{}', outcome: '{}' },
    }
    const _id = entryId(streamKey('op', 'SANDBOX', 'dice', 'p', '0000000003', id.slice(-8)), 1)
    return { _id, w, o: 'ins_1', q: 1, at: new Date(0), f: [{ base }] }
  }
  const claim = (w: string) => ({ _id: bookKey(chain, 3), w, s: 'stream', n: 1, at: new Date(0) })
  const [first, second] = [intent('rnd_first', 'a'), intent('rnd_second', 'b')]
  const lostIn = (...copied: JournalDocument<unknown>[]) => {
    const restored: Restored = { services: ['rounds'], parts: new Map() }
    lostBetween(copyOf(...copied), copyOf(second, claim('b')), 'rounds', restored)
    return [...(restored.parts.get('op/SANDBOX')?.lost.keys() ?? [])]
  }
  t.strictSame(lostIn(first, second, claim('a')), ['rnd_second'])
  t.strictSame(lostIn(first, second, claim('b')), [])
  t.strictSame(lostIn(second), [], 'a claim that was on its way is inserted again')
  t.end()
})

await t.test('webhooks that were set back may use the number of an attempt again', (t) => {
  const body = { id: 'evt_1', type: 'round.started', created_at: at, environment: 'SANDBOX', data: {} }
  const received = [1, 2].map((seq) => ({
    ...{ seq, verified: true, reason: null, event_id: 'evt_1', attempt: 1, answered_status: 200 },
    raw_body: JSON.stringify(body),
  }))
  const broken = (services: RestoredService[]) => {
    const part = services.length === 0 ? null : nothingLost(services)
    const sources = { ...parseSources({ ...noRows, events: [body] }), received, restored: part }
    const followed = { polled: null, webhookId: 'whe_1' }
    return brokenRules((verdict) => checkEvents(sources, followed, verdict))
  }
  const name = 'deliveries: no attempt number is used twice'
  t.ok(broken([]).includes(name))
  t.ok(broken(['rounds']).includes(name))
  t.notOk(broken(['webhooks']).includes(name))
  t.end()
})

await t.test('a poller of webhooks that were set back may meet an event again, and misses none', (t) => {
  const ids = ['evt_1', 'evt_2', 'evt_3']
  const told = { type: 'round.started', created_at: at, environment: 'SANDBOX', data: {} }
  const broken = (polled: string[], services: RestoredService[]) => {
    const part = services.length === 0 ? null : nothingLost(services)
    const events = ids.map((id) => ({ ...told, id }))
    const sources = { ...parseSources({ ...noRows, events }), restored: part }
    const rules = brokenRules((verdict) => checkEvents(sources, { polled, webhookId: null }, verdict))
    return rules.includes('events: a poller that follows its cursor misses none and meets none twice')
  }
  const again = ['evt_1', 'evt_3', 'evt_1', 'evt_2', 'evt_3']
  t.notOk(broken(ids, []))
  t.ok(broken(again, []))
  t.ok(broken(again, ['rounds']))
  t.notOk(broken(again, ['webhooks']))
  t.ok(broken(['evt_1', 'evt_3'], ['webhooks']), 'one is missed')
  t.ok(broken([...ids, 'evt_4'], ['webhooks']), 'one is of nobody')
  t.end()
})
