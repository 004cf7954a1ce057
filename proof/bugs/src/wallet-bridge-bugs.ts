import { newId } from '@pitboss/runtime/new-id'
import type { WalletBridgeWrap } from '@pitboss/wallet-bridge/open-context'
import type { Scope } from '@pitboss/contracts/caller'
import type { MovementMessage, MovementState } from '@pitboss/wallet-bridge/rules/movement'
import type { AskStanding } from '@pitboss/wallet-bridge/clients/ask-standing'
import type { MovementRules } from '@pitboss/wallet-bridge/context'
import { toMovementEvent } from '@pitboss/wallet-bridge/records/render-movement'
import type { DueMovements } from '@pitboss/wallet-bridge/storage/unfinished-movements'
import type { MovementStore } from '@pitboss/wallet-bridge/storage/movement-store'
import type { HasBug } from './bugs.ts'
import { busWith } from './bus-bugs.ts'
import { clientWith } from './wallet-client-bugs.ts'
import type { Wallet, Wallets } from '@pitboss/wallet-bridge/storage/wallet-document'

/** The bugs of wallet-bridge. Each part goes through unchanged unless its bug is named. */

/** What goes around the parts of a wallet-bridge that errs. */
export function walletBridgeWith(has: HasBug): WalletBridgeWrap {
  return {
    movements: (store) => ({ ...store, ...movementsWith(store, newId, has) }),
    due: (store) => dueWith(store, has),
    wallets: (wallets) => walletsWith(wallets, has),
    client: (client) => clientWith(client, newId, has),
    rules: (rules) => rulesWith(rules, newId, has),
    bus: (bus) => busWith(bus, has),
    askStanding: (ask) => standingWith(ask, has),
  }
}

/** The steps of the retry schedule of docs/contract.md, section 5, and its last one. */
const stepsS = [1, 2, 5, 15, 30, 60, 120, 300, 600, 1800]
const lastStepS = 3600

/** Judges too soon, or ends what is not to be ended. */
export function rulesWith(
  rules: MovementRules,
  newId: (prefix: string) => string,
  has: HasBug,
): MovementRules {
  /** Goes on with what it has made of a movement. */
  const after =
    (next: (state: MovementState, at: Date) => MovementMessage | null): MovementRules =>
    (state, message) => {
      const step = rules(state, message)
      const further = step.kind === 'applied' ? next(step.state, message.at) : null
      if (step.kind !== 'applied' || further === null) return step
      const second = rules(step.state, further)
      return second.kind === 'applied' ? { ...second, event: second.event ?? step.event } : step
    }
  if (has('wallet-bridge.refusal-always-final')) {
    return (state, message) => rules({ ...state, unknownTries: 0 }, message)
  }
  if (has('wallet-bridge.credit-given-up')) {
    return after(({ type, status, tries, call }, at) => {
      if (type !== 'WIN' || status !== 'PENDING' || tries < 2 || call !== null) return null
      const rollback = { transactionId: newId('rbk'), reference: newId('txn'), roundClosed: true }
      return { kind: 'resolved', at, as: 'failed', rollback }
    })
  }
  if (has('wallet-bridge.rollback-of-win')) {
    return after(({ type, status, tries, reversal }, at) => {
      if (type !== 'WIN' || status !== 'SUCCESS' || tries < 2 || reversal !== null) return null
      const fresh = { transactionId: newId('rbk'), reference: newId('txn') }
      const asked = { kind: 'reversal-asked', at, type: 'ROLLBACK', reversal: fresh } as const
      return { ...asked, requestHash: '', roundClosed: true }
    })
  }
  return rules
}

/**
 * Says too early, twice or not at all what became of a movement, tries it again too late, shows others'
 * movements, or writes over another's change.
 */
export function movementsWith(
  movements: MovementStore,
  newId: (prefix: string) => string,
  has: HasBug,
): MovementStore {
  const telling = (change: (step: Step, document: Document) => Step['events']): MovementStore => ({
    ...movements,
    write: (document, step) => movements.write(document, { ...step, events: change(step, document) }),
  })
  /** Gives waiting credits and rollbacks another time of their next try. */
  const due = (timeOf: (state: Waiting, document: Document) => Date): MovementStore => ({
    ...movements,
    write(document, step) {
      const { state } = step
      const { type, status, call, dueAt } = state
      const waits = type !== 'BET' && status === 'PENDING' && call === null && state.tries > 0
      if (!waits || dueAt === null) return movements.write(document, step)
      return movements.write(document, {
        ...step,
        state: { ...state, dueAt: timeOf({ ...state, dueAt }, document) },
      })
    },
  })
  if (has('storage.fence-lost')) {
    return {
      ...movements,
      async write(document, step) {
        const fresh = await movements.findById(document._id)
        return movements.write({ ...document, n: fresh?.n ?? document.n }, step)
      },
    }
  }
  if (has('wallet-bridge.ladder-step-too-far')) {
    return due(({ dueAt, updatedAt }) => new Date(2 * dueAt.getTime() - updatedAt.getTime()))
  }
  if (has('wallet-bridge.pulled-forward-counts')) {
    const unitMs = new Map<string, number>()
    return due(({ dueAt, updatedAt, tries }, { _id }) => {
      const waitMs = dueAt.getTime() - updatedAt.getTime()
      const firstMs = unitMs.get(_id) ?? waitMs
      if (tries === 1) unitMs.set(_id, waitMs)
      return new Date(updatedAt.getTime() + firstMs * (stepsS[tries - 1] ?? lastStepS))
    })
  }
  if (has('wallet-bridge.rollback-of-unknown-forgotten')) {
    return {
      ...movements,
      insert: (document, options) =>
        movements.insert(document.reversal === null ? document : { ...document, dueAt: null }, options),
    }
  }
  if (has('wallet-bridge.look-before-insert')) {
    return {
      ...movements,
      async insert(document, options) {
        if ((await movements.findById(document._id)) !== null) return 'taken'
        const inserted = await movements.insert(document, options)
        return inserted === 'taken' ? document : inserted
      },
    }
  }
  if (has('wallet-bridge.reversal-without-original')) {
    return {
      ...movements,
      insert: (document, { also: _, ...options } = {}) => movements.insert(document, options),
      write: (document, step) => movements.write(document, { ...step, also: null }),
    }
  }
  if (has('wallet-bridge.account-remembered')) {
    let account: Scope | null = null
    return { ...movements, find: (scope, id) => movements.find((account ??= scope), id) }
  }
  if (has('wallet-bridge.list-after-answer')) return { ...movements, listed: async () => undefined }
  if (has('wallet-bridge.event-of-other-amount')) {
    return telling(({ events }) =>
      events.map((event) => ({ ...event, body: event.body.replace(/"amount":"\d/, '"amount":"9') })),
    )
  }
  if (has('wallet-bridge.event-dropped')) {
    return telling(({ events, state }) => (state.tries > 1 ? [] : events))
  }
  if (has('wallet-bridge.event-twice')) {
    return telling(({ events }) =>
      events.flatMap((event) => {
        const id = newId('evt')
        // Of another round, by which webhooks does not take it for the same.
        const body = event.body
          .replace(event.id, id)
          .replace(/"round_id":"[^"]*"/, `"round_id":"${newId('rnd')}"`)
        return [event, { ...event, id, body }]
      }),
    )
  }
  if (has('wallet-bridge.event-before-outcome')) {
    const told = (facts: Document, state: MovementState) =>
      toMovementEvent({ ...facts, ...state, status: 'SUCCESS' }, 'transaction.bet')
    const later = telling(({ events, state }, document) => {
      const begins = state.call !== null && document.call === null && state.type === 'BET'
      return begins ? [...events, told(document, state)] : events
    })
    return {
      ...later,
      async insert(document, options) {
        const inserted = await movements.insert(document, options)
        const begins = document.call !== null && document.type === 'BET'
        if (!begins || typeof inserted === 'string' || 'refused' in inserted) return inserted
        await movements.republish(inserted, told(inserted, inserted))
        return (await movements.findById(inserted._id)) ?? inserted
      },
    }
  }
  return movements
}

type Waiting = MovementState & { readonly dueAt: Date }
type Document = Parameters<MovementStore['write']>[0]
type Step = Parameters<MovementStore['write']>[1]

/** Finds due what another process is at work on, or leaves out what is due. */
export function dueWith(due: DueMovements, has: HasBug): DueMovements {
  if (has('wallet-bridge.page-without-first')) {
    return {
      ...due,
      ofWallet: async (walletKey, now, limit) => (await due.ofWallet(walletKey, now, limit)).slice(1),
    }
  }
  if (has('wallet-bridge.backlog-not-pulled')) return { ...due, pullForward: async () => 0 }
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

/** Takes it that nobody was told of a stake's success, or that events do not matter. */
export function standingWith(ask: AskStanding, has: HasBug): AskStanding {
  if (has('wallet-bridge.rollback-against-events')) {
    return async (stake, requestId) => {
      const standing = await ask(stake, requestId)
      return standing === 'taken-by-events' ? 'not-taken' : standing
    }
  }
  return has('wallet-bridge.rollback-of-played-stake') ? async () => 'not-taken' : ask
}

const copyUsedMs = 5000

/** Opens the other environment's wallet, or one that was changed since. */
export function walletsWith(wallets: Wallets, has: HasBug): Wallets {
  if (has('wallet-bridge.live-wallet-used'))
    return { ...wallets, open: (scope) => wallets.open({ ...scope, environment: 'LIVE' }) }
  if (!has('wallet-bridge.old-wallet-after-answer')) return wallets
  const copies = new Map<string, { readonly untilMs: number; readonly wallet: Promise<Wallet | null> }>()
  return {
    ...wallets,
    open(scope) {
      const key = `${scope.operatorId}/${scope.environment}`
      const known = copies.get(key)
      if (known !== undefined && performance.now() < known.untilMs) return known.wallet
      const copy = { untilMs: performance.now() + copyUsedMs, wallet: wallets.open(scope) }
      copies.set(key, copy)
      return copy.wallet
    },
  }
}
