import { ServiceError } from '@pitboss/errors/service-error'
import { deliveryHealth, roundEvents, roundTransactions } from '@pitboss/contracts/calls/dashboard'
import { dossierSchema } from '@pitboss/contracts/objects/dossier'
import { overviewSchema } from '@pitboss/contracts/objects/overview'
import t from 'tap'
import { exampleOf } from '../../src/openapi/example-of.ts'
import { toJsonSchema } from '../../src/openapi/to-json-schema.ts'
import { searchReply } from '../../src/answers/search.ts'
import { ask } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

const world = await startWorld(t)
const dashboard = `${world.url}/v1/dashboard`
const token = await world.userToken()
const viewer = 'usr_01jd3v8x5q7r2m4n6p8s0t1w3z'
world.directory.users.set(viewer, 'VIEWER')
const viewerToken = await world.userToken({}, viewer)

await t.test(
  'a dossier holds round, wallet calls, events, deliveries and proof, each explained',
  async (t) => {
    const { status, json } = await ask(`${dashboard}/rounds/${ids.round}/dossier`, { token })
    t.equal(status, 200)
    const dossier = dossierSchema.parse(json)
    t.equal(dossier.round.round_id, ids.round)
    t.equal(dossier.movements.length, 1)
    t.equal(dossier.events[0]?.deliveries.length, 1)
    for (const { waiting_for } of [dossier, ...dossier.movements, ...(dossier.events[0]?.deliveries ?? [])])
      t.ok(waiting_for.length > 0)
    t.ok((dossier.verification?.checks.length ?? 0) > 0)
    t.equal(typeof dossier.receipt?.text, 'string')
    t.equal(world.forwarded.at(-1)?.request.caller.eitherEnvironment, true, 'it is looked up in both')
  },
)

await t.test('a dossier says when it shows less than there is', async (t) => {
  const shown = roundTransactions.reply.parse(exampleOf(toJsonSchema(roundTransactions.reply, 'output')))
  world.composed.set(roundTransactions.subject, { ...shown, complete: true })
  const events = roundEvents.reply.parse(exampleOf(toJsonSchema(roundEvents.reply, 'output')))
  for (const complete of [true, false]) {
    world.composed.set(roundEvents.subject, { ...events, complete })
    const { json } = await ask(`${dashboard}/rounds/${ids.round}/dossier`, { token })
    t.equal(dossierSchema.parse(json).complete, complete)
  }
})

await t.test('the dossier of an unknown round is that of none', async (t) => {
  world.answers.set('rounds.v1.round.show-for-dashboard', () => {
    throw new ServiceError('ROUND_NOT_FOUND')
  })
  const answer = await ask(`${dashboard}/rounds/${ids.round}/dossier`, { token })
  t.match(answer, { status: 404, code: 'ROUND_NOT_FOUND' })
  world.answers.clear()
})

await t.test('an overview goes on without a service that does not answer', async (t) => {
  const whole = overviewSchema.parse((await ask(`${dashboard}/overview`, { token })).json)
  t.ok(whole.play)
  t.ok(whole.wallet)
  t.ok(whole.deliveries)
  t.strictSame([whole.steps.key, whole.steps.round], [true, true])
  world.answers.set('rounds.v1.report.summary-for-dashboard', () => {
    throw new ServiceError('SERVICE_UNAVAILABLE')
  })
  const less = overviewSchema.parse((await ask(`${dashboard}/overview`, { token })).json)
  t.equal(less.play, null)
  t.ok(less.wallet)
  world.answers.set('rounds.v1.report.summary-for-dashboard', () => {
    throw new ServiceError('FORBIDDEN')
  })
  t.match(await ask(`${dashboard}/overview`, { token }), { status: 403 })
  world.answers.clear()
})

await t.test(
  'an overview is about TEST unless told, and asks nothing that the role may not read',
  async (t) => {
    world.forwarded.length = 0
    const { json } = await ask(`${dashboard}/overview`, { token: viewerToken })
    const { steps, environment } = overviewSchema.parse(json)
    t.equal(environment, 'SANDBOX')
    t.equal(steps.key, null)
    t.strictSame(
      world.forwarded.filter(({ subject }) => subject.startsWith('auth.')),
      [],
    )
    const live = await ask(`${dashboard}/overview?environment=LIVE`, { token })
    t.equal(overviewSchema.parse(live.json).environment, 'LIVE')
    const empty = deliveryHealth.reply.parse({
      ...{ pending: 0, oldest_pending_at: null, held: 0, failed: 0, endpoints: 0, paused: [], failing: [] },
      ever_delivered: false,
    })
    world.composed.set(deliveryHealth.subject, empty)
    const fresh = overviewSchema.parse((await ask(`${dashboard}/overview`, { token })).json)
    t.match(fresh.steps, { endpoint: false, delivery: false })
  },
)

await t.test('a book of nonces takes a range that is one', async (t) => {
  const book = (query: string) => ask(`${dashboard}/players/a%2Fb%20c/fairness/dice${query}`, { token })
  t.match(await book('?from_nonce=2&to_nonce=40'), { status: 200 })
  t.match(world.forwarded.at(-1)?.request, {
    params: { player_id: 'a/b c', game: 'dice' },
    query: { from_nonce: '2', to_nonce: '40', limit: 50 },
    caller: { scope: { environment: 'SANDBOX' } },
  })
  for (const query of ['?from_nonce=5&to_nonce=4', '?from_nonce=0', '?to_nonce=1.5', '?from_nonce=x'])
    t.match(await book(query), { status: 422, code: 'VALIDATION_ERROR' }, query)
})

await t.test('a search finds ids of ours by their prefix and ids of the operator by asking', async (t) => {
  const found = async (id: string, as = token) => {
    const { json } = await ask(`${dashboard}/search?id=${encodeURIComponent(id)}`, { token: as })
    return searchReply.parse(json).data.map(({ type }) => type)
  }
  const tail = ids.round.slice(4)
  const missing = () => {
    throw new ServiceError('TRANSACTION_NOT_FOUND')
  }
  const none = () => ({ status: 200, body: { data: [], next_cursor: null } })
  t.strictSame(new Set(await found('player-1')), new Set(['transaction', 'round', 'player']))
  world.answers.set('wallet.v1.transaction.show-for-dashboard', missing)
  t.strictSame(new Set(await found('player-1')), new Set(['round', 'player']), "a page's request, too")
  world.answers.set('rounds.v1.session.list-for-dashboard', none)
  world.answers.set('rounds.v1.round.list-for-dashboard', none)
  t.strictSame(await found('nobody'), [])
  t.strictSame(await found('no id of a page'), [])
  const wanted = [
    [ids.session, 'session'],
    [ids.round, 'round'],
    [`evt_${tail}`, 'event'],
    [`dlv_${tail}`, 'delivery'],
    [`whe_${tail}`, 'endpoint'],
    [ids.testKey, 'key'],
    [`apr_${tail}`, 'approval'],
    [`rcn_${tail}`, 'reconciliation'],
    [`crt_${tail}`, 'certification'],
  ] as const
  for (const [id, type] of wanted) t.strictSame(await found(id), [type], id)
  world.answers.set('rounds.v1.round.show-for-dashboard', () => {
    throw new ServiceError('ROUND_NOT_FOUND')
  })
  t.strictSame(await found(ids.round), [])
  world.forwarded.length = 0
  for (const id of [`whe_${tail}`, ids.testKey, `crt_${tail}`])
    t.strictSame(await found(id, viewerToken), [], id)
  t.notOk(world.forwarded.some(({ subject }) => /^auth|endpoint|certification/.test(subject)))
  t.match(await ask(`${dashboard}/search`, { token }), { status: 422, code: 'VALIDATION_ERROR' })
  t.match(await ask(`${dashboard}/search?id=${'x'.repeat(129)}`, { token }), { status: 422 })
  world.answers.set('rounds.v1.round.list-for-dashboard', () => {
    throw new ServiceError('SERVICE_UNAVAILABLE')
  })
  t.match(await ask(`${dashboard}/search?id=player-1`, { token }), { status: 503 })
})
