import { notStarted } from '@pitboss/bus/call-failure'
import { ServiceError } from '@pitboss/errors/service-error'
import { movementCalls } from '@pitboss/wallet-bridge/calls/movements'
import { applyWith, clientWith, dueWith, movementsWith } from '@pitboss/bugs/wallet-bridge-bugs'
import { createSettlement } from '@pitboss/wallet-bridge/actions/create-settlement'
import type { PlaceMovement } from '@pitboss/wallet-bridge/actions/place-movement'
import { createReadMovements } from '@pitboss/wallet-bridge/actions/read-movements'
import type { Wallet, Wallets } from '@pitboss/wallet-bridge/storage/wallet-document'
import { walletKeyOf } from '@pitboss/wallet-bridge/rules/movement-keys'
import { isExpected } from './is-expected.ts'
import type { Machine } from './machine.ts'
import { createRelay } from './model-stream.ts'
import { poll } from './poll.ts'
import { scope, silent, type World } from './world.ts'

const timeoutMs = 1000
const duePerLook = 128
const boundReadMs = 3000

const wallet: Wallet = {
  key: walletKeyOf(scope),
  environment: 'SANDBOX',
  url: 'http://127.0.0.1/',
  timeoutMs,
  settleLosses: 'none',
  secret: 'secret',
}

/**
 * A wallet-bridge: the real settlement and calls on the model's tables, wallet and time; its resolver's loop
 * is the model's.
 */
export function startBridge(machine: Machine, world: World): void {
  const { timeline, movements: model, stream, bus, mistake, has, newId, onError } = world
  const movements = movementsWith(model.storeOf(machine), newId, has)
  const due = dueWith(model.dueOf(machine), has)
  const outbox = createRelay({
    machine,
    stream,
    pendingOf: (id) => model.table.get(id)?.outbox ?? [],
    takeOut: model.takeOut,
  })
  const settlement = createSettlement({
    movements,
    outbox,
    clock: { now: () => timeline.now() },
    scaleMs: world.scaleMs,
    newId,
    wait: (ms) => machine.wait(ms),
    wrapApply: (apply) => applyWith(apply, newId, has),
    ...(mistake.movementRules === undefined ? {} : { rules: mistake.movementRules }),
    wallets: walletsOf(machine),
    due,
    client: clientWith(world.wallet.clientOf(machine), newId, has),
    metrics: { callEnded: () => undefined },
    logger: silent,
    wake: () => undefined,
  })
  const placeMovement = boundStakes(settlement.placeMovement, machine, world)
  const { voidStake } = settlement
  const readMovements = createReadMovements({ movements })
  bus.serve(machine, movementCalls({ placeMovement, voidStake, readMovements }))

  poll({ machine, timeline, everyMs: 500, nextMs: model.nextDueMs, work: resolve })
  poll({ machine, timeline, everyMs: 1000, nextMs: oldestEventMs, work: relayAll })

  async function resolve(): Promise<void> {
    let after = ''
    for (;;) {
      const key = await due.nextWallet(after, timeline.now())
      if (key === null) return
      after = key
      const found = await due.ofWallet(key, timeline.now(), duePerLook)
      for (const document of found) {
        settlement.advance.advance(document, 'sim').catch((error: unknown) => {
          if (!isExpected(error)) onError(error)
        })
      }
    }
  }

  async function relayAll(): Promise<void> {
    for (const { _id, outbox: waiting } of model.table.values())
      if (waiting.length > 0) void outbox.relay(_id)
  }

  function oldestEventMs(): number {
    const waits = [...model.table.values()].some(({ outbox: waiting }) => waiting.length > 0)
    return waits ? 0 : Number.POSITIVE_INFINITY
  }
}

/**
 * As place-movement.ts's own bound does it when the stakes of others fill the wallet's places: after its
 * first reads, before any write.
 */
function boundStakes(
  place: PlaceMovement,
  machine: Machine,
  { faults, random: { fork }, timeline }: World,
): PlaceMovement {
  const random = fork(`places/${machine.name}/${timeline.nowMs()}`)
  return async (scope, order, context) => {
    if (order.spec.type !== 'BET' || faults.fair() || !random.chance(faults.shed)) {
      return place(scope, order, context)
    }
    await machine.wait(random.between(1, boundReadMs))
    throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: notStarted })
  }
}

/** One wallet, which nobody changes. */
function walletsOf(machine: Machine): Wallets {
  const never = async () => null
  const document = {
    _id: wallet.key,
    version: 1,
    operatorId: scope.operatorId,
    environment: scope.environment,
    url: wallet.url,
    timeoutMs,
    settleLosses: wallet.settleLosses,
    sealedSecret: '',
    createdAt: new Date(0),
    updatedAt: new Date(0),
  }
  return {
    find: () => machine.io('find wallet', () => document),
    open: () => machine.io('open wallet', () => wallet),
    openDocument: () => wallet,
    change: never,
    create: never,
    replaceSecret: never,
    keysAfter: async () => [],
  }
}
