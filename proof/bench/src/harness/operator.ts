import { z } from 'zod'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { expectStatus, type HttpClient } from './http-client.ts'

const minted = z.object({ access_token: z.string() })
const opened = z.object({ session_id: z.string(), launch_url: z.string() })
const webhookMade = z.object({ webhook_id: z.string() })
const walletPut = z.object({ secret: z.string().optional() })

type Person = Pick<DemoFile, 'dashboard'>

/** A token of the demo operator's test key. */
export async function mintToken(http: HttpClient, demo: Pick<DemoFile, 'test'>): Promise<string> {
  const text = await expectStatus(200, http.send('POST', '/v1/auth/token', { body: demo.test }))
  return minted.parse(JSON.parse(text)).access_token
}

/** A token of the demo operator's owner. */
export async function signIn(http: HttpClient, demo: Person): Promise<string> {
  const text = await expectStatus(200, http.send('POST', '/v1/dashboard/login', { body: demo.dashboard }))
  return minted.parse(JSON.parse(text)).access_token
}

/** The longest life that a session may have: some benchmarks take longer than the usual hour. */
const sessionLifeS = 86_400

export async function openSession(
  http: HttpClient,
  token: string,
  seat: { player_id: string; game: string; currency: string },
): Promise<{ sessionId: string; launchToken: string }> {
  const body = { ...seat, expires_in_s: sessionLifeS }
  const text = await expectStatus(201, http.send('POST', '/v1/sessions', { token, body }))
  const session = opened.parse(JSON.parse(text))
  const launchToken = new URL(session.launch_url).hash.replace('#token=', '')
  return { sessionId: session.session_id, launchToken }
}

/** A webhook endpoint of the operator's test environment for events of all types. */
export async function addWebhook(http: HttpClient, demo: Person, url: string): Promise<string> {
  const token = await signIn(http, demo)
  const body = { url, environment: 'TEST', events: [] }
  const text = await expectStatus(201, http.send('POST', '/v1/dashboard/webhooks', { token, body }))
  return webhookMade.parse(JSON.parse(text)).webhook_id
}

/** Registers another wallet for the operator's test environment. */
export async function registerWallet(
  http: HttpClient,
  demo: Person,
  url: string,
  timeoutMs = 5000,
): Promise<void> {
  const token = await signIn(http, demo)
  const body = { url, timeout_ms: timeoutMs, settle_losses: 'none' }
  const text = await expectStatus(200, http.send('PUT', '/v1/dashboard/wallets/TEST', { token, body }))
  walletPut.parse(JSON.parse(text))
}
