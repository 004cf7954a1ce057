import { randomUUID } from 'node:crypto'
import { defineCall } from '@pitboss/contracts/call'
import { type Caller, callerSchema, scopeSchema } from '@pitboss/contracts/caller'
import { tokenOfCaller, tokenOfOperator } from '@pitboss/contracts/call-token'
import { definedCalls } from '@pitboss/contracts/defined-calls'
import { ServiceError } from '@pitboss/errors/service-error'
import { newId } from '@pitboss/runtime/new-id'
import { sampleCaller } from '@pitboss/testing/sample-caller'
import { claimsFor, newTestKey, signToken, type TestKey } from '@pitboss/testing/sign-token'
import { Registry } from 'prom-client'
import t from 'tap'
import { z } from 'zod'
import { type CallTokenMode, createCallTokens } from '../src/call-tokens.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

const operatorId = randomUUID()
const other = randomUUID()
const apiKey = 'ck_test_a'
const reply = z.null()
const request = z.strictObject({ caller: callerSchema })
/** One call for each audience, and two that name an account alone. */
const calls = {
  operator: defineCall('rounds.v1.test.operator', {
    request,
    reply,
    token: tokenOfCaller({ 'operator-api': 'games:read' }),
  }),
  player: defineCall('rounds.v1.test.player', {
    request,
    reply,
    token: tokenOfCaller({ 'game-launcher': 'that session' }),
  }),
  person: defineCall('rounds.v1.test.person', {
    request,
    reply,
    token: tokenOfCaller({ dashboard: ['OWNER'] }),
  }),
  account: defineCall('rounds.v1.test.account', {
    request: z.strictObject({ scope: scopeSchema }),
    reply,
    token: tokenOfOperator(({ scope }: { scope: Caller['scope'] }) => scope),
  }),
}

function callerOf(actor: Caller['actor'], more: Partial<Caller> = {}): Caller {
  return sampleCaller({ operatorId, environment: 'SANDBOX' }, actor, more)
}
type ActorOf<Kind> = Extract<Caller['actor'], { kind: Kind }>
const machine: ActorOf<'credential'> = { kind: 'credential', api_key: apiKey, scopes: [] }
const player = { kind: 'session', session_id: newId('ses') } as const
const person: ActorOf<'user'> = {
  kind: 'user',
  user_id: newId('usr'),
  email: 'ada@example.com',
  role: 'OWNER',
  session_id: 'session-1',
}

/** The check on a virtual clock, with keys that a test changes. */
async function startCheck(mode: CallTokenMode = 'require') {
  const { logger, lines } = memoryLogger()
  const registry = new Registry()
  const world = {
    nowMs: Date.now(),
    keys: [await newTestKey('k1')],
    loads: 0,
    load: async (): Promise<Record<string, unknown>[]> => world.keys.map(({ jwk }) => jwk),
  }
  const loadKeys = async () => {
    world.loads += 1
    return world.load()
  }
  const tokens = createCallTokens({ loadKeys, mode, logger, registry, nowMs: () => world.nowMs })
  const admit = async <Request>(
    call: Parameters<typeof tokens.admit<Request>>[0],
    asked: Request,
    token: string | null,
  ) => {
    try {
      await tokens.admit(call, asked, { token, requestId: 'req-1' })
      return 'served'
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return error.code === 'INTERNAL_ERROR' && error.cause instanceof Error
        ? error.cause.message.replace('call refused by its token: ', '')
        : error.code
    }
  }
  const counted = async (reason: string) =>
    (await registry.getSingleMetric('pitboss_calls_without_good_token_total')?.get())?.values.find(
      ({ labels }) => labels.reason === reason,
    )?.value
  return { world, admit, lines, counted, first: (): TestKey => world.keys[0] ?? raise('no key') }
}

function raise(message: string): never {
  throw new Error(message)
}

t.test('a token has to bear out the caller in every part', async (t) => {
  const { admit, first, lines, counted } = await startCheck()
  const sign = (claims: object) => signToken(first(), claims)
  const operator = await sign(claimsFor('operator-api', apiKey, operatorId))
  const launch = await sign(claimsFor('game-launcher', player.session_id, operatorId))
  const dashboard = await sign(claimsFor('dashboard', person.user_id, operatorId))
  const live = { scope: { operatorId, environment: 'LIVE' } } as const

  t.equal(await admit(calls.operator, { caller: callerOf(machine) }, operator), 'served')
  t.equal(await admit(calls.player, { caller: callerOf(player) }, launch), 'served')
  t.equal(await admit(calls.person, { caller: callerOf(person) }, dashboard), 'served')
  t.equal(await admit(calls.person, { caller: callerOf(person, live) }, dashboard), 'served')
  t.equal(
    await admit(calls.person, { caller: callerOf(person, { eitherEnvironment: true }) }, dashboard),
    'served',
    'a person is of both environments',
  )
  t.equal(await admit(calls.account, callerOf(machine), operator), 'served')

  const foreign = await sign(claimsFor('operator-api', apiKey, other))
  const stranger = await signToken(await newTestKey('k1'), claimsFor('operator-api', apiKey, operatorId))
  const refusals: [reason: string, actor: Caller['actor'], more: Partial<Caller>, token: string | null][] = [
    ['missing', machine, {}, null],
    ['invalid', machine, {}, 'a.b.c'],
    ['invalid', machine, {}, stranger],
    ['audience', machine, {}, dashboard],
    ['audience', player, {}, launch],
    ['account', machine, {}, foreign],
    ['account', machine, { scope: { operatorId: other, environment: 'SANDBOX' } }, operator],
    ['account', machine, { account: { ...callerOf(machine).account, operator_id: other } }, operator],
    ['subject', { ...machine, api_key: 'ck_test_b' }, {}, operator],
    ['subject', player, {}, operator],
    ['subject', person, {}, operator],
    ['environment', machine, live, operator],
    ['environment', machine, { eitherEnvironment: true }, operator],
  ]
  for (const [reason, actor, more, token] of refusals)
    t.equal(await admit(calls.operator, { caller: callerOf(actor, more) }, token), reason)
  const another = { ...person, session_id: 'session-2' }
  t.equal(await admit(calls.person, { caller: callerOf(another) }, dashboard), 'subject')
  t.equal(await admit(calls.account, callerOf(machine), foreign), 'account')
  t.equal(await admit(calls.account, callerOf(machine, live), operator), 'environment')
  t.equal(await admit(calls.account, callerOf(machine), dashboard), 'audience')

  t.equal(await counted('account'), 4)
  const told = lines.filter(({ msg }) => msg === 'security.call-refused')
  t.equal(told.length, refusals.length + 4, 'each refusal is a line')
  t.match(told[0], {
    subject: calls.operator.subject,
    request_id: 'req-1',
    reason: 'missing',
    operator_id: operatorId,
  })
  t.notMatch(JSON.stringify(told), operator, 'which repeats no token')
  const ofPeople = told.filter(({ actor }) => (actor as Caller['actor'] | null)?.kind === 'user')
  t.match(ofPeople[0], { actor: { user_id: person.user_id, email: undefined } })
  t.notMatch(JSON.stringify(told), person.email, 'and names a person by id alone')
})

t.test('a token counts for 60 s after its expiry, and no longer', async (t) => {
  const { world, admit, first } = await startCheck()
  const claims = claimsFor('operator-api', apiKey, operatorId)
  const token = await signToken(first(), claims)
  const asked = { caller: callerOf(machine) }
  world.nowMs = claims.exp * 1000
  t.equal(await admit(calls.operator, asked, token), 'served')
  world.nowMs = claims.exp * 1000 + 59_999
  t.equal(await admit(calls.operator, asked, token), 'served')
  world.nowMs = claims.exp * 1000 + 60_000
  t.equal(await admit(calls.operator, asked, token), 'expired')
})

t.test('keys are loaded once, again for an unknown one, and when they are old', async (t) => {
  const { world, admit, first, lines } = await startCheck()
  const claims = {
    ...claimsFor('operator-api', apiKey, operatorId),
    exp: Math.floor(world.nowMs / 1000) + 90_000,
  }
  const asked = { caller: callerOf(machine) }
  const old = await signToken(first(), claims)
  t.equal(await admit(calls.operator, asked, old), 'served')
  t.equal(await admit(calls.operator, asked, old), 'served')
  t.equal(world.loads, 1)

  const [k1, k2] = [first(), await newTestKey('k2')]
  world.keys = [k2, k1]
  t.equal(await admit(calls.operator, asked, await signToken(k2, claims)), 'served', 'a rotated key')
  t.equal(world.loads, 2)
  t.equal(await admit(calls.operator, asked, await signToken(await newTestKey('k3'), claims)), 'invalid')
  t.equal(world.loads, 3, 'it looks once for a key that nobody has')

  world.keys = [k2]
  t.equal(await admit(calls.operator, asked, old), 'served', 'known for a minute')
  world.nowMs += 60_001
  const loaded = Promise.withResolvers<void>()
  world.load = async () => {
    queueMicrotask(() => setImmediate(() => loaded.resolve()))
    return [k2.jwk]
  }
  await admit(calls.operator, asked, old)
  await loaded.promise
  t.equal(await admit(calls.operator, asked, old), 'invalid', 'its key was taken back')

  world.nowMs += 60_001
  world.load = () => Promise.reject(new ServiceError('SERVICE_UNAVAILABLE'))
  const fresh = await signToken(k2, claims)
  t.equal(await admit(calls.operator, asked, fresh), 'served', 'known keys do without auth')
  t.equal(await admit(calls.operator, asked, fresh), 'served')
  t.equal(lines.filter(({ msg }) => msg === 'signing-keys.not-refreshed').length, 1)
})

t.test('without keys nothing is judged', async (t) => {
  const { world, admit, first, lines } = await startCheck()
  world.load = () => Promise.reject(new ServiceError('SERVICE_UNAVAILABLE'))
  const token = await signToken(first(), claimsFor('operator-api', apiKey, operatorId))
  t.equal(await admit(calls.operator, { caller: callerOf(machine) }, token), 'SERVICE_UNAVAILABLE')
  t.equal(await admit(calls.operator, { caller: callerOf(machine) }, null), 'missing')
  t.equal(lines.length, 1)
})

t.test('while a missing token is accepted, a bad one is refused all the same', async (t) => {
  const { admit, counted, lines } = await startCheck('accept')
  t.equal(await admit(calls.operator, { caller: callerOf(machine) }, null), 'served')
  t.equal(await admit(calls.operator, { caller: callerOf(machine) }, 'a.b.c'), 'invalid')
  t.equal(await counted('missing'), 1)
  t.equal(lines.length, 1)
})

t.test('only these calls of the gateway carry no token', async (t) => {
  const tokenless = definedCalls.filter(
    ({ callers, token }) => callers.includes('gateway') && 'none' in token,
  )
  t.strictSame(
    Object.fromEntries(tokenless.map(({ subject, token }) => [subject, 'none' in token && token.none])),
    {
      'auth.v1.token.mint': 'the key pair proves who asks',
      'auth.v1.principal.resolve': 'the gateway judges by its answer',
      'auth.v1.dashboard.login': 'the password proves who asks',
      'auth.v1.dashboard.refresh': 'the cookie proves who asks',
      'auth.v1.dashboard.logout': 'the cookie proves who asks',
      'auth.v1.invitation.accept': 'the invitation proves who asks',
      'auth.v1.keys.public': 'public; tokens are verified by its answer',
      'auth.v1.keys.records': 'public; records are verified by its answer',
      'auth.v1.request-log.append': 'rows of many senders',
      'wallet.v1.callback.receive': "the wallet's signature proves who asks",
    },
  )
  t.throws(() => defineCall('rounds.v1.test.silent', { request, reply }), {
    message: 'rounds.v1.test.silent says nothing about its token',
  })
})
