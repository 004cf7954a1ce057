import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { DemoFile } from '../../../src/demo-file.ts'
import { runStack, type RunningStack } from '@pitboss/testing/run-stack'
import { runOps } from '@pitboss/testing/run-ops'
import { createWitness, proxyAddress, type Said, type Witness } from '../../fixtures/witness.ts'

const login = z.object({ email: z.string(), password: z.string() })
const keyPair = z.object({ api_key: z.string(), api_secret: z.string() })

type KeyPair = z.infer<typeof keyPair>
type Login = z.infer<typeof login>

export type AccessWorld = {
  stack: RunningStack
  demo: DemoFile
  witness: Witness
  send: Witness['send']
  ops(...flags: string[]): Promise<Record<string, unknown>>
  /** A fresh token of a key pair, the demo operator's test key unless told. Tokens live 60 s here. */
  mint(keys?: KeyPair): Promise<string>
  /** A fresh dashboard token, the demo operator's owner unless told. */
  signIn(who?: Login): Promise<string>
  createKey(token: string, more?: object): Promise<KeyPair>
  openSession(token: string, more?: object): Promise<{ sessionId: string; playerToken: string }>
  /** A second operator on the paid plan, with nothing in it. */
  second: { operatorId: string; dashboard: Login }
}

type Suite = Parameters<typeof runStack>[0]

/**
 * The whole product with two gateways behind a proxy, logging all that it can, and a second operator beside
 * the demo's.
 */
export async function startAccessWorld(t: Suite): Promise<AccessWorld> {
  const stack = await runStack(t, ['--replicas', 'gateway=2'], {
    PITBOSS_LOG_LEVEL: 'trace',
    PITBOSS_TOKEN_TTL_S: '60',
    PITBOSS_APPROVER_AGE_S: '0',
    PITBOSS_TRUSTED_PROXIES: proxyAddress,
    PITBOSS_LIMIT_MINT_KEY_PER_MIN: '300',
    PITBOSS_LIMIT_MINT_ADDRESS_PER_MIN: '100000',
    PITBOSS_LIMIT_DASHBOARD_PER_S: '1000',
    PITBOSS_LIMIT_LOGIN_EMAIL_PER_MIN: '1000',
    PITBOSS_LIMIT_LOGIN_ADDRESS_PER_MIN: '1000',
  })
  const demo = stack.demo()
  const witness = await createWitness(demo.base_url)
  const { send } = witness
  for (const [name, { secret }] of Object.entries({ wallet: demo.wallet, live: demo.live_wallet }))
    witness.remember(`secret of the ${name} wallet`, secret)
  witness.remember('secret of the receiver', demo.receiver.secret)
  witness.remember("the demo's live secret", demo.live.api_secret)
  const ops = (...flags: string[]) => runOps(stack.dataDir, ...flags)
  const made = await ops(
    ...['operator', 'create', '--name', 'Second', '--email', 'boss@second.example'],
    ...['--password', randomBytes(12).toString('base64url')],
  )
  const dashboard = login.parse(made.dashboard)
  witness.remember("the second owner's password", dashboard.password)

  return {
    stack,
    demo,
    witness,
    send,
    ops,
    second: { operatorId: String(made.operator_id), dashboard },
    async mint(keys = demo.test) {
      const { api_key, api_secret } = keys
      return String(
        okay(200, await send('POST', '/v1/auth/token', { body: { api_key, api_secret } })).access_token,
      )
    },
    async signIn(who = demo.dashboard) {
      return String(okay(200, await send('POST', '/v1/dashboard/login', { body: who })).access_token)
    },
    async createKey(token, more = {}) {
      const body = { name: 'Key', environment: 'TEST', scopes: [], ip_allowlist: [], ...more }
      return keyPair.parse(okay(201, await send('POST', '/v1/dashboard/credentials', { token, body })))
    },
    async openSession(token, more = {}) {
      const body = { player_id: 'alice', game: 'dice', currency: 'USD', ...more }
      const opened = okay(201, await send('POST', '/v1/sessions', { token, body }))
      const playerToken = new URL(String(opened.launch_url)).hash.replace('#token=', '')
      return { sessionId: String(opened.session_id), playerToken }
    },
  }
}

/** The body of an answer that must have this status. @throws with the answer. */
export function okay(status: number, said: Said): Record<string, unknown> {
  if (said.status !== status) throw new Error(`answered ${said.status} instead of ${status}: ${said.text}`)
  return said.body
}
