import type { WalletClient, WalletRequest } from '@pitboss/wallet-bridge/clients/wallet-client'
import type { WalletExchange } from '@pitboss/wallet-bridge/rules/wallet-answers'
import type { HasBug } from './bugs.ts'

/** The bugs of the client of wallets. It goes through unchanged unless one of them is named. */

const refused = {
  kind: 'answer',
  httpStatus: 402,
  body: Buffer.from('{"status":"INSUFFICIENT_FUNDS"}'),
  cutOff: false,
  date: null,
} as const

/** Calls the wallet in another way than it was asked to, or takes its answer for another one. */
export function clientWith(
  client: WalletClient,
  newId: (prefix: string) => string,
  has: HasBug,
): WalletClient {
  const retried = (change: (body: string) => string): WalletClient => {
    const sent = new Set<string>()
    return {
      ...client,
      call(request) {
        const again = sent.has(request.body)
        sent.add(request.body)
        return client.call(again ? { ...request, body: change(request.body) } : request)
      },
    }
  }
  const sending = (bodyOf: (request: WalletRequest) => string): WalletClient => ({
    ...client,
    call: (request) => client.call({ ...request, body: bodyOf(request) }),
  })
  if (has('wallet-bridge.new-id-per-retry')) return retried((body) => underNewId(body, newId))
  if (has('wallet-bridge.retry-other-body')) {
    return retried((body) =>
      body.replace(/"occurredAt":"[^"]*"/, `"occurredAt":"${new Date().toISOString()}"`),
    )
  }
  const judged = (change: (exchange: WalletExchange) => WalletExchange): WalletClient => ({
    ...client,
    async call(request) {
      const result = await client.call(request)
      return { ...result, exchange: change(result.exchange) }
    },
  })
  if (has('wallet-bridge.silence-is-refusal')) {
    return judged((exchange) => (exchange.kind === 'answer' ? exchange : refused))
  }
  if (has('wallet-bridge.server-error-is-refusal')) {
    return judged((exchange) =>
      exchange.kind === 'answer' && exchange.httpStatus >= 500 ? refused : exchange,
    )
  }
  if (has('wallet-bridge.duplicate-is-refusal')) {
    return judged((exchange) =>
      exchange.kind === 'answer' && Buffer.from(exchange.body).includes('"DUPLICATE"') ? refused : exchange,
    )
  }
  if (has('wallet-bridge.answer-of-another-call')) return withMixedAnswers(client)
  if (has('wallet-bridge.credit-in-other-currency')) {
    return sending((request) =>
      request.operation === 'credit'
        ? request.body.replace(/"currency":"[A-Z]+"/, '"currency":"EUR"')
        : request.body,
    )
  }
  if (has('wallet-bridge.rollback-of-itself')) {
    return sending(({ operation, body }) => {
      const [, own] = /"transactionId":"([^"]*)"/.exec(body) ?? []
      const named = `"referenceTransactionId":"${own}"`
      return operation === 'rollback' ? body.replace(/"referenceTransactionId":"[^"]*"/, named) : body
    })
  }
  if (has('wallet-bridge.void-pays-twice')) {
    return {
      ...client,
      async call(request) {
        const result = await client.call(request)
        if (request.operation === 'rollback') await client.call(asCredit(request, newId))
        return result
      },
    }
  }
  return client
}

function underNewId(body: string, newId: (prefix: string) => string): string {
  return body.replace(/"transactionId":"[^"]*"/, `"transactionId":"${newId('dup')}"`)
}

function asCredit(request: WalletRequest, newId: (prefix: string) => string): WalletRequest {
  const body = underNewId(request.body, newId).replace('"type":"ROLLBACK"', '"type":"REFUND"')
  return { ...request, operation: 'credit', body }
}

/** The last answer is kept in one place for all calls that are under way at once. */
function withMixedAnswers(client: WalletClient): WalletClient {
  let underWay = 0
  let kept: WalletExchange | null = null
  return {
    ...client,
    async call(request) {
      underWay += 1
      const result = await client.call(request)
      underWay -= 1
      const exchange = kept ?? result.exchange
      kept = underWay > 0 ? result.exchange : null
      return { ...result, exchange }
    },
  }
}
