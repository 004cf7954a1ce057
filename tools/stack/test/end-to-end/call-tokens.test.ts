import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bus, connectBus } from '@pitboss/bus/connect-bus'
import type { Caller } from '@pitboss/contracts/caller'
import { mintLaunchToken, resolvePrincipal, signDocument } from '@pitboss/contracts/calls/auth'
import {
  type MovementSpec,
  placeMovement,
  reconcileOurs,
  showMovement,
  voidStake,
} from '@pitboss/contracts/calls/wallet'
import { createCredential } from '@pitboss/contracts/endpoints/auth'
import { getWallet, putWallet } from '@pitboss/contracts/endpoints/wallet'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { manifestType, tokenClaimsSchema } from '@pitboss/contracts/token-claims'
import { ServiceError } from '@pitboss/errors/service-error'
import { newId } from '@pitboss/runtime/new-id'
import { createOperatorClient, send } from '@pitboss/testing/operator-client'
import { runOps } from '@pitboss/testing/run-ops'
import { sharedStack } from '@pitboss/testing/shared-stack'
import pino from 'pino'
import t from 'tap'
import { z } from 'zod'

/**
 * What a thief may do who holds the NATS key of the gateway, with the rights that `npm start` gives it: speak
 * for those whose tokens it has, and for nobody else.
 */

const seedsSchema = z.record(z.string(), z.string())
const connectionSchema = z.object({ nats_url: z.string() })
const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

const none = { params: {}, query: {} }

/** The claims of a token; null for what is none. */
function claimsOf(token: string) {
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
  const claims = tokenClaimsSchema.safeParse(payload.startsWith('{') ? JSON.parse(payload) : null)
  return claims.success ? claims.data : null
}

t.test('the key of the gateway speaks for nobody without his token', async (t) => {
  const stack = await sharedStack(t)
  const demo = stack.demo()
  const seeds = seedsSchema.parse(readJson(join(stack.dataDir, 'nats', 'nats', 'nkeys.json')))
  const { nats_url: url } = connectionSchema.parse(readJson(join(stack.dataDir, 'connection.json')))
  const logger = pino({ level: 'silent' })
  const become = async (user: 'gateway' | 'rounds'): Promise<Bus> => {
    const bus = await connectBus({ url, nkeySeed: seeds[user], service: user, logger })
    t.teardown(() => bus.close())
    return bus
  }
  const [gateway, rounds] = [await become('gateway'), await become('rounds')]

  const made = await runOps(
    ...[stack.dataDir, 'operator', 'create', '--name', 'Second', '--email', 'boss@second.example'],
    ...['--plan', 'paid', '--approved'],
  )
  const signIn = async (body: unknown) => {
    const answer = await send('POST', `${demo.base_url}/v1/dashboard/login`, { body })
    t.equal(answer.status, 200)
    return String(answer.body.access_token)
  }
  const foreign = await signIn(made.dashboard)
  const owner = await signIn(demo.dashboard)
  const operator = await createOperatorClient(demo)
  const { sub = '', sid = '' } = claimsOf(owner) ?? {}

  const operatorId = operatorIdOf(demo.operator_id) ?? ''
  const scope = { operatorId, environment: 'SANDBOX' } as const
  const { account } = await gateway.call(resolvePrincipal, { kind: 'session', operatorId })
  if (account === null) throw new Error('the demo operator is gone')
  const callerOf = (userId: string, sessionId: string): Caller => ({
    ...{ scope, eitherEnvironment: false, account, idempotencyKey: null, clientAddress: '127.0.0.1' },
    actor: { kind: 'user', user_id: userId, email: 'a@b.example', role: 'OWNER', session_id: sessionId },
  })
  const invented = callerOf(newId('usr'), newId('ses'))
  const genuine = callerOf(sub, sid)
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'served',
      (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
    )
  const context = (token: string | null) => ({
    requestId: newId('req'),
    ...(token === null ? {} : { token: claimsOf(token)?.fwd ?? token }),
  })

  const key = { name: 'Stolen', environment: 'LIVE' as const, scopes: [], ip_allowlist: [] }
  const settings = { url: 'https://thief.example', timeout_ms: 5000, settle_losses: 'none' as const }
  const expires_at = new Date(Date.now() + 3_600_000).toISOString()
  const now = new Date().toISOString()
  const asks: Record<string, (caller: Caller, token: string | null) => Promise<unknown>> = {
    'the address of the wallet': (caller, token) =>
      gateway.call(
        putWallet.call,
        { caller, params: { environment: 'TEST' }, query: {}, body: settings },
        context(token),
      ),
    'a key': (caller, token) =>
      gateway.call(createCredential.call, { caller, params: {}, query: {}, body: key }, context(token)),
    "a player's token": (_caller, token) =>
      gateway.call(
        mintLaunchToken,
        { scope, sessionId: newId('ses'), expiresAt: expires_at },
        context(token),
      ),
    'a signed manifest': (_caller, token) =>
      gateway.call(
        signDocument,
        { typ: manifestType, payload: { operator_id: demo.operator_id, environment: 'SANDBOX' } },
        context(token),
      ),
    'the movements': (_caller, token) =>
      gateway.call(reconcileOurs, { scope, from: now, to: now, after: null }, context(token)),
  }
  const wallet = () =>
    gateway.call(
      getWallet.call,
      { caller: genuine, params: { environment: 'TEST' }, query: {}, body: undefined },
      context(owner),
    )
  const before = await wallet()

  for (const [what, ask] of Object.entries(asks)) {
    t.equal(await codeOf(ask(invented, null)), 'INTERNAL_ERROR', `${what} without a token`)
    t.equal(await codeOf(ask(genuine, 'a.b.c')), 'INTERNAL_ERROR', `${what} with a forged token`)
    t.equal(await codeOf(ask(genuine, foreign)), 'INTERNAL_ERROR', `${what} with another account's token`)
    t.equal(await codeOf(ask(invented, owner)), 'INTERNAL_ERROR', `${what} with the token of the wrong one`)
  }
  t.strictSame(await wallet(), before, 'the wallet stayed')
  const bare = { requestId: newId('req'), token: owner }
  const ofEdge = gateway.call(createCredential.call, { caller: genuine, ...none, body: key }, bare)
  t.equal(await codeOf(ofEdge), 'INTERNAL_ERROR', 'services take no token of a client')
  for (const [token, path] of [
    [owner, 'dashboard/credentials'],
    [operator.token, 'games'],
  ] as const) {
    const passedOn = claimsOf(token)?.fwd ?? ''
    t.match(passedOn, /^eyJ/)
    t.match(await send('GET', `${demo.base_url}/v1/${path}`, { token: passedOn }), {
      status: 401,
      body: { code: 'INVALID_CREDENTIALS' },
    })
  }
  const keys = await send('GET', `${demo.base_url}/v1/dashboard/credentials`, { token: owner })
  t.notMatch(JSON.stringify(keys.body), 'Stolen', 'there is no new key')
  t.match(stack.printed(), /"reason":"missing".*"msg":"security.call-refused"/, 'the log tells of it')
  const bridge = demo.processes.find(({ name }) => name === 'wallet-bridge')
  const metrics = await (await fetch(`${bridge?.http_url}/metrics`)).text()
  t.match(metrics, /pitboss_calls_without_good_token_total\{reason="account",service="wallet-bridge"\} 1/)

  settings.url = before.body.url
  for (const [what, ask] of Object.entries(asks)) {
    const token = ['the address of the wallet', 'a key'].includes(what) ? owner : operator.token
    t.equal(await codeOf(ask(genuine, token)), 'served', `${what} with the right token`)
  }

  const win: MovementSpec = {
    transactionId: newId('win'),
    type: 'WIN',
    amount: '999999.00',
    currency: 'USD',
    playerId: 'alice',
    sessionId: newId('ses'),
    roundId: newId('rnd'),
    walletRoundId: randomUUID(),
    walletGameId: randomUUID(),
    game: 'dice',
    brandId: null,
    freeBet: false,
    roundClosed: true,
    driver: 'game',
    referenceTransactionId: null,
    callWallet: null,
    requestHash: 'x',
  }
  const { transactionId } = win
  const stake: MovementSpec = { ...win, type: 'BET', roundClosed: false }
  const voided = { scope, stake, rollbackTransactionId: newId('rbk') }
  for (const token of [null, owner, operator.token]) {
    const placing = gateway.call(placeMovement, { scope, spec: win }, context(token))
    t.equal(await codeOf(placing), 'SERVICE_UNAVAILABLE', 'NATS lets rounds alone place')
    t.equal(await codeOf(gateway.call(voidStake, voided, context(token))), 'SERVICE_UNAVAILABLE')
  }
  t.equal(
    await rounds.call(showMovement, { scope, transactionId }),
    null,
    'nothing was placed; rounds may ask',
  )

  const player = await operator.openSession({ player_id: 'alice', game: 'dice', currency: 'USD' })
  const bet = { target: '50.00', direction: 'over' }
  const played = await player.call('POST', '/game/rounds', { stake: '1.00', bet })
  t.equal(played.status, 201, 'and play goes on')
})
