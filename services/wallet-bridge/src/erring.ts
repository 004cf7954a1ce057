import { seededBug } from '@pitboss/runtime/seeded-bug'
import type { WalletClient, WalletRequest } from './clients/wallet-client.ts'
import type { MovementState } from './rules/movement.ts'
import type { ApplyMessage } from './actions/apply-message.ts'
import { toMovementEvent } from './records/render-movement.ts'
import type { DueMovements } from './storage/due-movements.ts'
import type { MovementStore } from './storage/movements.ts'
import type { Wallets } from './storage/wallet-document.ts'

/** Seeded bugs of wallet-bridge (see libs/runtime's seeded-bug.ts): each part goes through unchanged unless its bug is armed. */

/** Calls the wallet in another way than it was asked to. */
export function erringClient(
  client: WalletClient,
  newId: (prefix: string) => string,
  has = seededBug,
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
  if (has('wallet-bridge.new-id-per-retry')) return retried((body) => underNewId(body, newId))
  if (has('wallet-bridge.retry-other-body')) {
    return retried((body) =>
      body.replace(/"occurredAt":"[^"]*"/, `"occurredAt":"${new Date().toISOString()}"`),
    )
  }
  if (has('wallet-bridge.silence-is-refusal')) {
    return {
      ...client,
      async call(request) {
        const result = await client.call(request)
        if (result.exchange.kind === 'answer') return result
        const body = Buffer.from('{"status":"INSUFFICIENT_FUNDS"}')
        const refused = { kind: 'answer', httpStatus: 402, body, cutOff: false, date: null } as const
        return { ...result, exchange: refused }
      },
    }
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

/** Judges too soon, or ends what is not to be ended. */
export function erringApply(
  apply: ApplyMessage,
  newId: (prefix: string) => string,
  has = seededBug,
): ApplyMessage {
  if (has('wallet-bridge.refusal-always-final')) {
    return (document, message, attempt) => apply({ ...document, unknownTries: 0 }, message, attempt)
  }
  if (has('wallet-bridge.credit-given-up')) {
    return async (document, message, attempt) => {
      const after = await apply(document, message, attempt)
      const { type, status, tries, call } = after.document
      if (type !== 'WIN' || status !== 'PENDING' || tries < 2 || call !== null) return after
      return apply(after.document, { kind: 'resolved', at: message.at, as: 'failed' })
    }
  }
  if (has('wallet-bridge.rollback-of-win')) {
    return async (document, message, attempt) => {
      const after = await apply(document, message, attempt)
      const { type, status, tries, reversal } = after.document
      if (type !== 'WIN' || status !== 'SUCCESS' || tries < 2 || reversal !== null) return after
      return apply(after.document, {
        kind: 'reversal-asked',
        at: message.at,
        type: 'ROLLBACK',
        reversal: { transactionId: newId('rbk'), reference: newId('txn') },
        requestHash: '',
        roundClosed: true,
      })
    }
  }
  return apply
}

/** Tells too early, twice, or not at all. */
export function erringMovements(
  movements: MovementStore,
  newId: (prefix: string) => string,
  has = seededBug,
): MovementStore {
  const telling = (change: (step: Step, document: Document) => Step['events']): MovementStore => ({
    ...movements,
    write: (document, step) => movements.write(document, { ...step, events: change(step, document) }),
  })
  if (has('wallet-bridge.event-dropped')) {
    return telling(({ events, state }) => (state.tries > 1 ? [] : events))
  }
  if (has('wallet-bridge.event-twice')) {
    return telling(({ events }) =>
      events.flatMap((event) => {
        const id = newId('evt')
        return [event, { ...event, id, body: event.body.replace(event.id, id) }]
      }),
    )
  }
  if (has('wallet-bridge.event-before-outcome')) {
    return telling(({ events, state }, document) => {
      const begins = state.call !== null && document.call === null && state.type === 'BET'
      const told = { facts: document, state: { ...state, status: 'SUCCESS' }, eventId: newId('evt') } as const
      return begins ? [...events, toMovementEvent({ ...told, type: 'transaction.bet' })] : events
    })
  }
  return movements
}

type Document = Parameters<MovementStore['write']>[0]
type Step = Parameters<MovementStore['write']>[1]

/** Finds due what another process is at work on. */
export function erringDue(due: DueMovements, has = seededBug): DueMovements {
  if (!has('wallet-bridge.two-resolvers')) return due
  const lateMs = 60_000
  const later = (now: Date) => new Date(now.getTime() + lateMs)
  const freed = <Found extends MovementState>(found: Found, now: Date): Found =>
    found.call === null ? found : { ...found, call: { ...found.call, until: now } }
  return {
    ...due,
    nextWallet: (after, now) => due.nextWallet(after, later(now)),
    async ofWallet(walletKey, now, limit) {
      const found = await due.ofWallet(walletKey, later(now), limit)
      return found.map((document) => freed(document, now))
    },
  }
}

/** Opens the other environment's wallet. */
export function erringWallets(wallets: Wallets, has = seededBug): Wallets {
  if (!has('wallet-bridge.live-wallet-used')) return wallets
  return { ...wallets, open: (scope) => wallets.open({ ...scope, environment: 'LIVE' }) }
}
