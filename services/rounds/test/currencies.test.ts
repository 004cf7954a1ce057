import type { Account, Caller } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import * as sessionsEndpoints from '@pitboss/contracts/endpoints/sessions'
import type { ServiceError } from '@pitboss/errors/service-error'
import t from 'tap'
import { z } from 'zod'
import { errorOf, type Rig, startRig } from './fixtures/rounds-rig.ts'

const unknownId = '01jd5r7mq8v3k9x2c4n6p0s1tw'

type Fields = Record<string, unknown>

let counter = 0
const nextId = () => `cur-${++counter}`

/** Calls with an amount; they name things that do not exist unless the test gives others. */
function doors(rig: Rig) {
  const parse = <Request>(schema: z.ZodType<Request>, caller: Caller, body: Fields, params: Fields = {}) =>
    schema.parse({ caller, params, query: {}, body })
  const place = (body: Fields, more: Partial<Caller> = {}) => {
    const { call } = endpoints.placeTransaction
    const whole = { transaction_id: nextId(), currency: 'USD', amount: '1.00', ...body }
    return rig.bus.call(call, parse(call.request, rig.caller(more), whole))
  }
  return {
    openSession: (body: Fields, more: Partial<Caller> = {}) => rig.openSession(body, more),
    grant: (body: Fields, more: Partial<Caller> = {}) => {
      const { call } = endpoints.createFreeBet
      const whole = { player_id: 'ann', game: 'dice', currency: 'USD', stake: '1.00', count: 1, ...body }
      return rig.bus.call(call, parse(call.request, rig.caller(more), whole))
    },
    setLimits: (limits: Fields, slug = 'dice') => {
      const { call } = sessionsEndpoints.patchGame
      const whole = { limits: [{ currency: 'USD', min_stake: '1.00', max_stake: '2.00', ...limits }] }
      return rig.bus.call(call, parse(call.request, rig.caller(), whole, { slug }))
    },
    bet: (body: Fields, more: Partial<Caller> = {}) =>
      place({ type: 'BET', session_id: `ses_${unknownId}`, ...body }, more),
    win: (body: Fields, more: Partial<Caller> = {}) =>
      place({ type: 'WIN', round_id: `rnd_${unknownId}`, ...body }, more),
    reverse: (type: 'REFUND' | 'ROLLBACK', body: Fields, more: Partial<Caller> = {}) =>
      place({ type, reference_transaction_id: 'nothing', ...body }, more),
  }
}

const said = ({ code, details }: ServiceError) =>
  details === undefined ? code : `${code} at ${details.map(({ path }) => path).join(', ')}`

t.test('amounts are judged by the currency that the body names before anything is looked up', async (t) => {
  const rig = await startRig(t)
  const { openSession, grant, setLimits, bet, win, reverse } = doors(rig)
  const poker = { game: 'poker' }
  const tooFine = { amount: '1.001' }
  const cases: [what: string, () => Promise<unknown>, expected: string][] = [
    ['a stake of an unknown session', () => bet(tooFine), 'VALIDATION_ERROR at amount'],
    [
      'a stake in a round and session that are unknown',
      () => bet({ ...tooFine, round_id: `rnd_${unknownId}` }),
      'VALIDATION_ERROR at amount',
    ],
    ['yen have no decimals', () => bet({ amount: '1.0', currency: 'JPY' }), 'VALIDATION_ERROR at amount'],
    [
      'a known currency that is not enabled',
      () => bet({ ...tooFine, currency: 'GBP' }),
      'VALIDATION_ERROR at amount',
    ],
    ['a good stake of an unknown session', () => bet({}), 'SESSION_NOT_FOUND'],
    [
      'nothing judges the amount of no currency',
      () => bet({ ...tooFine, currency: 'ZZZ' }),
      'SESSION_NOT_FOUND',
    ],
    ['a win of an unknown round', () => win(tooFine), 'VALIDATION_ERROR at amount'],
    ['a good win of an unknown round', () => win({}), 'ROUND_NOT_FOUND'],
    ['a refund of nothing', () => reverse('REFUND', tooFine), 'VALIDATION_ERROR at amount'],
    ['a rollback of nothing', () => reverse('ROLLBACK', tooFine), 'VALIDATION_ERROR at amount'],
    ['a good refund of nothing', () => reverse('REFUND', {}), 'TRANSACTION_NOT_FOUND'],
    [
      'an amount without a currency',
      () => reverse('REFUND', { ...tooFine, currency: undefined }),
      'TRANSACTION_NOT_FOUND',
    ],
    ['a grant for an unknown game', () => grant({ ...poker, stake: '1.001' }), 'VALIDATION_ERROR at stake'],
    ['a good grant for an unknown game', () => grant(poker), 'GAME_NOT_FOUND'],
    [
      'the least stake of a session for an unknown game',
      () => openSession({ ...poker, limits: { min_stake: '1.001' } }),
      'VALIDATION_ERROR at limits.min_stake',
    ],
    [
      'the greatest stake of a session for an unknown game',
      () => openSession({ ...poker, limits: { max_stake: '1.001' } }),
      'VALIDATION_ERROR at limits.max_stake',
    ],
    [
      'good limits for an unknown game',
      () => openSession({ ...poker, limits: { max_stake: '1.00' } }),
      'GAME_NOT_FOUND',
    ],
    [
      'the least stake of an unknown game',
      () => setLimits({ min_stake: '1.001' }, 'poker'),
      'VALIDATION_ERROR at limits.0.min_stake',
    ],
    [
      'the greatest stake of an unknown game',
      () => setLimits({ max_stake: '2.001' }, 'poker'),
      'VALIDATION_ERROR at limits.0.max_stake',
    ],
    ['good limits of an unknown game', () => setLimits({}, 'poker'), 'GAME_NOT_FOUND'],
  ]
  for (const [what, refused, expected] of cases) t.equal(said(await errorOf(refused())), expected, what)
})

t.test('new play needs a currency that is enabled, play under way does not', async (t) => {
  const rig = await startRig(t)
  const { openSession, grant, setLimits, bet, win, reverse } = doors(rig)
  const enabled = rig.caller().account.currencies.join(', ')
  for (const currency of ['GBP', 'ZZZ', 'XAU', 'ABCDE']) {
    const limits = { min_stake: '1', max_stake: '2' }
    for (const [what, refused] of [
      ['a session', () => openSession({ currency })],
      ['a session with limits', () => openSession({ currency, limits })],
      ['a grant', () => grant({ currency, stake: '1' })],
      ['limits', () => setLimits({ currency, ...limits })],
    ] as const) {
      const field = what === 'limits' ? 'limits.0.currency' : 'currency'
      const error = await errorOf(refused())
      t.equal(said(error), `CURRENCY_NOT_SUPPORTED at ${field}`, `${what} in ${currency}`)
      t.match(error.message, new RegExp(`${currency} .*${enabled}`), 'it names what is enabled')
      t.equal(
        error.message.includes('PATCH /v1/business'),
        currency === 'GBP',
        'and how to enable a known one',
      )
    }
  }

  const account: Account = { ...rig.caller().account, currencies: ['EUR'] }
  const withoutUsd: Partial<Caller> = { account }
  const session = await rig.openSession({ currency: 'USD' })
  const { session_id } = session
  const round_id = (await bet({ session_id, transaction_id: 'stake' })).body.round_id
  for (const [what, refused] of [
    ['a stake in a session of that currency', () => bet({ session_id }, withoutUsd)],
    ['a further stake', () => bet({ session_id, round_id }, withoutUsd)],
    ['a round that we play', () => rig.play(session, {}, withoutUsd)],
  ] as const) {
    const error = await errorOf(refused())
    t.equal(error.code, 'CURRENCY_NOT_SUPPORTED', `${what}, which is enabled no more`)
    t.match(error.message, 'USD is not enabled on this account, which has EUR.')
  }

  for (const currency of ['EUR', 'GBP', 'ZZZ']) {
    for (const [what, refused] of [
      ['a stake', () => bet({ session_id, currency })],
      ['a further stake', () => bet({ session_id, round_id, currency })],
      ['a win', () => win({ round_id, currency })],
      ['a refund', () => reverse('REFUND', { reference_transaction_id: 'stake', currency })],
      ['a rollback', () => reverse('ROLLBACK', { reference_transaction_id: 'stake', currency })],
    ] as const) {
      t.equal(said(await errorOf(refused())), 'CURRENCY_MISMATCH at transaction_id', `${what} in ${currency}`)
    }
  }

  t.equal((await bet({ session_id, transaction_id: 'stake' }, withoutUsd)).status, 200, 'a repeat')
  t.equal((await win({ round_id, final: false }, withoutUsd)).status, 201, 'a win')
  const added = await bet({ session_id, round_id })
  const { transaction_id: reference_transaction_id } = added.body
  t.equal((await reverse('REFUND', { reference_transaction_id }, withoutUsd)).status, 201, 'a refund')
  t.equal((await win({ round_id, transaction_id: 'end' }, withoutUsd)).status, 201, 'the last win')
  const undo = { reference_transaction_id: 'end' }
  t.equal((await reverse('ROLLBACK', undo, withoutUsd)).status, 201, 'a rollback')
  const listed = async (currency: string) => {
    const { call } = endpoints.listRounds
    const query = { currency, limit: 50 }
    const request = { caller: rig.caller(withoutUsd), params: {}, query, body: undefined }
    return (await rig.bus.call(call, request)).body.data.length
  }
  t.same([await listed('USD'), await listed('GBP'), await listed('ZZZ')], [1, 0, 0], 'filters do not ask')
})

t.test('a code that is badly formed is no currency at all', async (t) => {
  const rig = await startRig(t)
  const { openSession } = doors(rig)
  for (const currency of ['usd', 'US', 'TOOLONG', 'U$D', ''])
    t.equal((await errorOf(openSession({ currency }))).code, 'VALIDATION_ERROR', `"${currency}"`)
})

t.test('one id in sessions of two currencies is a conflict, played or refused', async (t) => {
  const rig = await startRig(t)
  const { bet } = doors(rig)
  const [dollars, yen] = [
    await rig.openSession({ player_id: 'ann' }),
    await rig.openSession({ player_id: 'ann', currency: 'JPY' }),
  ]
  // As many minor units in each.
  const taken = { transaction_id: 'taken' }
  const { round_id } = await rig.play(dollars, { stake: '10.00', ...taken })
  t.equal((await errorOf(rig.play(yen, { stake: '1000', ...taken }))).code, 'TRANSACTION_CONFLICT')
  t.equal((await rig.play(dollars, { stake: '10.00', ...taken })).round_id, round_id, 'a repeat')
  const refused = { transaction_id: 'refused' }
  const tooLow = () => errorOf(rig.play(dollars, { stake: '0.01', ...refused }))
  t.equal((await tooLow()).code, 'BET_LIMIT_EXCEEDED')
  t.equal((await errorOf(rig.play(yen, { stake: '1', ...refused }))).code, 'TRANSACTION_CONFLICT')
  t.equal((await tooLow()).code, 'BET_LIMIT_EXCEEDED')
  const driven = { transaction_id: 'driven' }
  const stake = { session_id: dollars.session_id, amount: '10.00', ...driven }
  t.equal((await bet(stake)).status, 201)
  const other = { session_id: yen.session_id, amount: '1000', currency: 'JPY', ...driven }
  t.equal((await errorOf(bet(other))).code, 'TRANSACTION_CONFLICT')
  const asked = rig.wallet.asked.filter(({ type }) => type === 'BET')
  t.same(new Set(asked.map(({ currency }) => currency)), new Set(['USD']))
})
