import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createWalletApp } from '@pitboss/operator-kit/sandbox-wallet/create-wallet-app'
import type { Cleanup } from '@pitboss/bench/harness/cleanup'
import type { Product } from '@pitboss/bench/harness/start-product'
import { runOps } from '@pitboss/testing/run-ops'
import { z } from 'zod'
import { type Answers, createAnswers } from './answers.ts'
import { type CallRecorder, recordCalls, type WalletAnswer } from './network/record-calls.ts'
import { createOperatorClient, type OperatorClient, untilStatus } from './operator-client.ts'
import type { Random } from './random.ts'
import { send } from './send.ts'

/** One account in one environment, with a wallet of its own. */
export type Tenancy = {
  readonly name: 'test' | 'live' | 'second'
  readonly environment: 'TEST' | 'LIVE'
  readonly operatorId: string
  readonly operator: OperatorClient
  /** Token of the account's owner. */
  readonly personToken: string
  readonly answers: Answers
  /** Address of the wallet's own notes and faults. */
  readonly walletUrl: string
  /** Addresses by which the product reaches that wallet, each with every call that came there. */
  readonly recorders: readonly CallRecorder[]
  /** Receiver of its events and the endpoint there; null where nothing is delivered. */
  readonly receiver: { url: string; webhookId: string } | null
}

export const walletTimeoutMs = 1000
/** Balance of the players whose money ends during the run. */
export const poorBalance = '6.00'
const secondLogin = { email: 'owner@second-casino.example', password: 'second-casino-owner-1' }
const made = z.object({ operator_id: z.string() })
const key = z.object({ api_key: z.string(), api_secret: z.string() })
const secretOf = z.object({ secret: z.string() })

/**
 * The demo operator in both environments and a second operator, each with its wallet behind recorders. All
 * use the same names for players and movements: nothing but the account keeps them apart.
 */
export async function openTenancies({
  product,
  folder,
  random,
  cleanup,
}: {
  product: Product
  folder: string
  random: Random
  cleanup: Cleanup
}): Promise<Record<Tenancy['name'], Tenancy>> {
  const demo = product.demo()
  const base = `${demo.base_url}/v1`
  const ask = async (status: number, method: string, path: string, token: string, body: unknown) =>
    (await untilStatus(status, () => send(method, `${base}${path}`, { token, body }))).body
  const signIn = async (login: { email: string; password: string }) =>
    String(
      (await untilStatus(200, () => send('POST', `${base}/dashboard/login`, { body: login }))).body
        .access_token,
    )

  const open = async (
    name: Tenancy['name'],
    given: Pick<Tenancy, 'environment' | 'operatorId' | 'personToken' | 'walletUrl' | 'receiver'> & {
      keys: z.infer<typeof key>
      status: 200 | 201
    },
  ): Promise<Tenancy & { made: Record<string, unknown> }> => {
    const { keys, status, ...rest } = given
    const recorders: CallRecorder[] = []
    const refused = new Map<string, WalletAnswer>()
    for (const number of [1, 2]) {
      const recorder = await recordCalls({
        walletUrl: rest.walletUrl,
        refused,
        path: join(folder, `calls-${name}-${number}.jsonl`),
        random: random.fork(`calls ${name} ${number}`),
      })
      cleanup.add(() => recorder.close())
      recorders.push(recorder)
    }
    const settings = { url: recorders[0]?.url, timeout_ms: walletTimeoutMs, settle_losses: 'none' }
    const put = await ask(status, 'PUT', `/dashboard/wallets/${rest.environment}`, rest.personToken, settings)
    const poor = ['poor-0', 'poor-1'].map((player_id) => ({ player_id, balances: { USD: poorBalance } }))
    await untilStatus(200, () =>
      send('PUT', `${rest.walletUrl}/sandbox/players`, { body: { players: poor } }),
    )
    const operator = await createOperatorClient(demo, keys)
    return { name, ...rest, operator, recorders, answers: createAnswers(), made: put }
  }

  const owner = await signIn(demo.dashboard)
  const own = { operatorId: demo.operator_id, personToken: owner, status: 200 as const }
  const test = await open('test', {
    ...own,
    environment: 'TEST',
    keys: demo.test,
    walletUrl: demo.wallet.url,
    receiver: { url: demo.receiver.url, webhookId: demo.receiver.webhook_id },
  })
  const live = await open('live', {
    ...own,
    environment: 'LIVE',
    keys: demo.live,
    walletUrl: demo.live_wallet.url,
    receiver: null,
  })

  const created = await runOps(
    product.dataDir,
    ...['operator', 'create', '--name', 'Second Casino', '--email', secondLogin.email],
    ...['--password', secondLogin.password, '--yes', '--reason', 'chaos run'],
  )
  const personToken = await signIn(secondLogin)
  await ask(200, 'PATCH', '/business', personToken, { currencies: ['USD', 'JPY', 'BTC'] })
  const minted = { name: 'Chaos', environment: 'TEST', scopes: [], ip_allowlist: [] }
  const keys = key.parse(await ask(201, 'POST', '/dashboard/credentials', personToken, minted))
  const walletUrl = await startWallet(folder, cleanup)
  const second = await open('second', {
    operatorId: made.parse(created).operator_id,
    personToken,
    status: 201,
    environment: 'TEST',
    keys,
    walletUrl,
    receiver: null,
  })
  await untilStatus(204, () =>
    send('PUT', `${walletUrl}/sandbox/secret`, { body: secretOf.parse(second.made) }),
  )
  return { test, live, second }
}

/** A sandbox wallet within this process: it lives as long as the run. */
async function startWallet(folder: string, cleanup: Cleanup): Promise<string> {
  const dataDir = join(folder, 'second-wallet')
  mkdirSync(dataDir, { recursive: true })
  const app = await createWalletApp({ dataDir, secret: 'nobody-knows', startingBalance: '1000.00', seed: 1 })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  cleanup.add(() => app.close())
  return url
}
