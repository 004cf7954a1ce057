import { newId } from '@pitboss/runtime/new-id'
import type { WalletBridgeWrap } from '@pitboss/wallet-bridge/app'
import type { WalletClient, WalletRequest } from '@pitboss/wallet-bridge/clients/wallet-client'
import type { MovementState } from '@pitboss/wallet-bridge/rules/movement'
import type { ApplyMessage } from '@pitboss/wallet-bridge/actions/apply-message'
import { toMovementEvent } from '@pitboss/wallet-bridge/records/render-movement'
import type { DueMovements } from '@pitboss/wallet-bridge/storage/due-movements'
import type { MovementStore } from '@pitboss/wallet-bridge/storage/movements'
import type { HasBug } from './bugs.ts'
import { busWith } from './bus-bugs.ts'
import type { Wallets } from '@pitboss/wallet-bridge/storage/wallet-document'

/** The bugs of wallet-bridge. Each part goes through unchanged unless its bug is named. */

/** What goes around the parts of a wallet-bridge that errs. */
export function walletBridgeWith(has: HasBug): WalletBridgeWrap {
  return {
    movements: (store) => ({ ...store, ...movementsWith(store, newId, has) }),
    due: (store) => dueWith(store, has),
    wallets: (wallets) => walletsWith(wallets, has),
    client: (client) => clientWith(client, newId, has),
    apply: (apply) => applyWith(apply, newId, has),
    bus: (bus) => busWith(bus, has),
  }
}

/** Calls the wallet in another way than it was asked to. */
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
export function applyWith(apply: ApplyMessage, newId: (prefix: string) => string, has: HasBug): ApplyMessage {
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

/** Says too early, twice or not at all what became of a movement, or writes over another's change. */
export function movementsWith(
  movements: MovementStore,
  newId: (prefix: string) => string,
  has: HasBug,
): MovementStore {
  const telling = (change: (step: Step, document: Document) => Step['events']): MovementStore => ({
    ...movements,
    write: (document, step) => movements.write(document, { ...step, events: change(step, document) }),
  })
  if (has('storage.fence-lost')) {
    return {
      ...movements,
      async write(document, step) {
        const fresh = await movements.findById(document._id)
        return movements.write({ ...document, version: fresh?.version ?? document.version }, step)
      },
    }
  }
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
export function dueWith(due: DueMovements, has: HasBug): DueMovements {
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
export function walletsWith(wallets: Wallets, has: HasBug): Wallets {
  if (!has('wallet-bridge.live-wallet-used')) return wallets
  return { ...wallets, open: (scope) => wallets.open({ ...scope, environment: 'LIVE' }) }
}
