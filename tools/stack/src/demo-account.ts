import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Bus } from '@pitboss/bus/connect-bus'
import { opsCreateOperator } from '@pitboss/contracts/calls/auth-ops'
import { resolvePrincipal } from '@pitboss/contracts/calls/auth'
import { createCredential } from '@pitboss/contracts/endpoints/auth'
import { putWallet, rotateWalletSecret } from '@pitboss/contracts/endpoints/wallet'
import { createWebhook, patchWebhook } from '@pitboss/contracts/endpoints/webhooks'
import { type AccountMode, operatorIdOf } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { z } from 'zod'
import { createDemoOwner } from './demo-owner.ts'
import { readJson, writePrivateJson } from './state-file.ts'

const keyPair = z.strictObject({ api_key: z.string(), api_secret: z.string() })
const wallet = z.strictObject({ url: z.string(), secret: z.string() })
const stateSchema = z.strictObject({
  operator_id: z.string().optional(),
  dashboard: z.strictObject({ email: z.string(), password: z.string() }),
  test: keyPair.optional(),
  live: keyPair.optional(),
  wallet: wallet.optional(),
  live_wallet: wallet.optional(),
  receiver: z.strictObject({ url: z.string(), secret: z.string(), webhook_id: z.string() }).optional(),
})
type State = z.infer<typeof stateSchema>
export type DemoAccount = { [Field in keyof State]-?: NonNullable<State[Field]> }

const currencies = ['USD', 'EUR', 'JPY', 'BTC', 'FUN']

/**
 * Makes the demo operator with its keys, wallets and endpoint, once per data folder; each step is written
 * down as soon as it is done, so that a start that was cut off goes on where it stood. Later starts only
 * follow changed addresses. Source: docs/contract.md, section 9.
 */
export async function prepareDemoAccount({
  ops,
  edge,
  dataDir,
  urls,
}: {
  /** With the rights of operations, and with those of a gateway, as which it asks for the account's owner. */
  ops: Bus
  edge: Bus
  dataDir: string
  urls: { wallet: string; liveWallet: string; receiver: string }
}): Promise<DemoAccount> {
  const path = join(dataDir, 'demo-account.json')
  const state: State = readJson(path, stateSchema) ?? {
    dashboard: { email: 'owner@demo-casino.example', password: randomBytes(12).toString('base64url') },
  }
  const save = () => writePrivateJson(path, state)
  save()

  if (state.operator_id === undefined) {
    const order = { by: 'stack', reason: 'demo account', dryRun: false }
    const made = await ops.call(opsCreateOperator, {
      order,
      name: 'Demo Casino',
      ...state.dashboard,
      plan: 'paid',
      approved: true,
      currencies,
    })
    state.operator_id = made.operator_id
    save()
  }
  const operatorId = present(operatorIdOf(state.operator_id) ?? undefined, 'an op_ handle')
  const { account } = await edge.call(resolvePrincipal, { kind: 'session', operatorId })
  if (account === null)
    throw new ServiceError('NOT_FOUND', {
      message: 'The demo operator is gone from the database; start with --fresh.',
    })
  const owner = createDemoOwner({ bus: edge, account, handle: state.operator_id, ...state.dashboard })
  const asOwner = async (environment: AccountMode) => {
    const { caller, context } = await owner.callIn(environment)
    return [{ caller, params: {}, query: {}, body: undefined }, context] as const
  }

  for (const [field, environment] of [
    ['test', 'TEST'],
    ['live', 'LIVE'],
  ] as const) {
    if (state[field] !== undefined) continue
    const body = { name: `Demo ${environment.toLowerCase()} key`, environment, scopes: [], ip_allowlist: [] }
    const [frame, context] = await asOwner(environment)
    const made = await edge.call(createCredential.call, { ...frame, body }, context)
    state[field] = { api_key: made.body.api_key, api_secret: present(made.body.api_secret, 'api_secret') }
    save()
  }
  for (const [field, environment, url] of [
    ['wallet', 'TEST', urls.wallet],
    ['live_wallet', 'LIVE', urls.liveWallet],
  ] as const) {
    if (state[field]?.url === url) continue
    const [frame, context] = await asOwner(environment)
    const request = { ...frame, params: { environment } }
    const body = { url, timeout_ms: 5000, settle_losses: 'none' as const }
    const put = await edge.call(putWallet.call, { ...request, body }, context)
    const known = put.body.secret ?? state[field]?.secret
    const rotation = { ...request, body: { overlap_s: 0 } }
    const secret = known ?? (await edge.call(rotateWalletSecret.call, rotation, context)).body.secret
    state[field] = { url, secret: present(secret, 'secret') }
    save()
  }
  if (state.receiver === undefined) {
    const body = {
      url: urls.receiver,
      environment: 'TEST' as const,
      events: [],
      description: 'Demo receiver',
    }
    const [frame, context] = await asOwner('TEST')
    const made = await edge.call(createWebhook.call, { ...frame, body }, context)
    state.receiver = {
      url: urls.receiver,
      secret: present(made.body.secret, 'secret'),
      webhook_id: made.body.webhook_id,
    }
  } else if (state.receiver.url !== urls.receiver) {
    const params = { webhook_id: state.receiver.webhook_id }
    const [frame, context] = await asOwner('TEST')
    await edge.call(patchWebhook.call, { ...frame, params, body: { url: urls.receiver } }, context)
    state.receiver = { ...state.receiver, url: urls.receiver }
  }
  save()
  await owner.signOut()
  return {
    operator_id: state.operator_id,
    dashboard: state.dashboard,
    test: present(state.test, 'test'),
    live: present(state.live, 'live'),
    wallet: present(state.wallet, 'wallet'),
    live_wallet: present(state.live_wallet, 'live_wallet'),
    receiver: state.receiver,
  }
}

function present<Value>(value: Value | undefined, name: string): Value {
  if (value === undefined) throw new Error(`the answer lacks ${name}`)
  return value
}
