import type { OutboundSettings } from '@pitboss/outbound/address-guard'
import { decodeBody, encodingOddities } from '@pitboss/outbound/decode-body'
import { DeadlineError, exchange } from '@pitboss/outbound/exchange'
import { createGuardedAgent } from '@pitboss/outbound/guarded-agent'
import { headOdditiesOf } from '@pitboss/outbound/normalize-answers'
import { resolveName } from '@pitboss/outbound/resolve-name'
import { signBody, signatureTimestamp } from '@pitboss/signing/body-signature'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Clock } from '@pitboss/runtime/clock'
import type { Agent } from 'undici'
import type { WalletOperation } from '../rules/movement.ts'
import { secretsAt } from '../rules/wallet.ts'
import type { WalletExchange } from '../rules/wallet-answers.ts'
import type { Wallet } from '../storage/wallet-document.ts'

export type WalletCallResult = {
  readonly exchange: WalletExchange
  readonly sentAt: Date
  readonly latencyMs: number
  /** The request without its body and signature. */
  readonly request: { readonly url: string; readonly timestamp: string; readonly requestId: string }
}

export type WalletRequest = {
  readonly wallet: Wallet
  readonly operation: WalletOperation | 'balance'
  readonly body: string
  readonly requestId: string
  readonly timeoutMs: number
  /** Set only by the wallet check, to send bad signatures and times. */
  readonly timestamp?: string
  readonly signature?: string
  /** Set only by certifications: takes the place of the headers of signature, time and request. */
  readonly headers?: Readonly<Record<string, string>>
}

export type WalletClient = ReturnType<typeof createWalletClient>

export const answerBytesMax = 64 * 1024
/** Sockets for stakes and balances, and as many that credits and rollbacks have for themselves. */
const connectionsPerPool = 48
const poolsMax = 2000
const keepAliveMs = 10_000

/**
 * Calls operators' wallets. Credits and rollbacks have connections of their own; each checks the address;
 * redirects are not followed; of an answer 64 KiB are read and decoded. Source: docs/contract.md, section 6.
 */
export function createWalletClient({ outbound, clock }: { outbound: OutboundSettings; clock: Clock }) {
  const pools = new BoundedMap<string, Agent>(poolsMax)

  /** Closes the least recently used pool when there are too many. */
  function poolOf(wallet: Wallet, operation: WalletRequest['operation']): Agent {
    const isOwed = operation === 'credit' || operation === 'rollback'
    const key = `${wallet.key} ${new URL(wallet.url).origin} ${isOwed ? 'owed' : 'stakes'}`
    const present = pools.get(key)
    if (present !== undefined) return present
    const [oldest] = pools.entries()
    if (pools.size >= poolsMax && oldest !== undefined) {
      const [oldestKey, idle] = oldest
      pools.delete(oldestKey)
      idle.close().catch(() => idle.destroy())
    }
    const agent = createGuardedAgent({
      policy: { ...outbound, environment: wallet.environment === 'LIVE' ? 'LIVE' : 'TEST' },
      connectionsMax: connectionsPerPool,
      connectTimeoutMs: 15_000,
      keepAliveMs,
      resolve: (host) => resolveName(host, wallet.key),
    })
    pools.set(key, agent)
    return agent
  }

  return {
    /** Never rejects: a failure is an exchange, too. One deadline covers all of the exchange. */
    async call(request: WalletRequest): Promise<WalletCallResult> {
      const { wallet, operation, body, requestId, timeoutMs, ...given } = request
      const sentAt = clock.now()
      const timestamp = given.timestamp ?? signatureTimestamp(sentAt)
      const url = `${wallet.url.replace(/\/+$/, '')}/${operation}`
      const startedAtMs = performance.now()
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'Pitboss-Wallet/1',
        ...(given.headers ?? {
          'x-timestamp': timestamp,
          'x-signature': given.signature ?? signaturesOf(wallet, sentAt, timestamp, body),
          'x-request-id': requestId,
        }),
      }
      const outcome = await exchangeOnce(poolOf(wallet, operation), { url, headers, body }, timeoutMs)
      const latencyMs = Math.round(performance.now() - startedAtMs)
      return { exchange: outcome, sentAt, latencyMs, request: { url, timestamp, requestId } }
    },
    async close(): Promise<void> {
      await Promise.all([...pools.entries()].map(([, agent]) => agent.destroy()))
      pools.clear()
    },
  }
}

/** One signature for each secret that is good, separated by a space. Source: docs/contract.md, section 6. */
function signaturesOf(wallet: Wallet, at: Date, timestamp: string, body: string): string {
  return secretsAt(wallet, at)
    .map((secret) => signBody(secret, timestamp, body))
    .join(' ')
}

async function exchangeOnce(
  agent: Agent,
  request: Parameters<typeof exchange>[1],
  timeoutMs: number,
): Promise<WalletExchange> {
  try {
    const answer = await exchange(agent, request, { timeoutMs, bytesMax: answerBytesMax + 1 })
    const { status: httpStatus, headers, end } = answer
    if (end === 'late') return { kind: 'timeout', begunWith: httpStatus }
    if (end === 'broken') return { kind: 'no-answer', reason: reasonOf(answer.error) }
    const received = answer.body.subarray(0, answerBytesMax)
    const encoding = headers['content-encoding']
    const decoded = decodeBody(received, encoding, answerBytesMax)
    return {
      kind: 'answer',
      httpStatus,
      body: decoded?.bytes ?? received,
      cutOff: end === 'long' || decoded?.cutOff === true,
      date: typeof headers.date === 'string' ? headers.date : null,
      contentType: String(headers['content-type'] ?? ''),
      oddities: [...headOdditiesOf(headers), ...encodingOddities(encoding, decoded)],
    }
  } catch (error) {
    if (error instanceof DeadlineError) return { kind: 'timeout' }
    return { kind: 'no-answer', reason: reasonOf(error) }
  }
}

/** The error's code (ECONNREFUSED, UND_ERR_SOCKET, ADDRESS_REFUSED …) or its message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no connection'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null
  return (code ?? error.message).slice(0, 200)
}
