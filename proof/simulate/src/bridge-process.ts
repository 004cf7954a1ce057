import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { notStarted } from '@pitboss/bus/call-failure'
import { ServiceError } from '@pitboss/errors/service-error'
import { movementCalls } from '@pitboss/wallet-bridge/calls/movements'
import { applyWith, dueWith, movementsWith, standingWith } from '@pitboss/bugs/wallet-bridge-bugs'
import { clientWith } from '@pitboss/bugs/wallet-client-bugs'
import { createResolveByPerson } from '@pitboss/wallet-bridge/actions/operate-movements'
import { createTakeCallback } from '@pitboss/wallet-bridge/actions/take-callback'
import { createAskStanding } from '@pitboss/wallet-bridge/clients/ask-standing'
import type { BreakerNote } from '@pitboss/wallet-bridge/clients/breakers'
import type { MovementDocument } from '@pitboss/wallet-bridge/storage/movements'
import { signBody, signatureTimestamp } from '@pitboss/signing/body-signature'
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
const audit = { entry: () => sampleAuditEntry() }
const duePerLook = 128
const boundReadMs = 3000

const wallet: Wallet = {
  key: walletKeyOf(scope),
  environment: 'SANDBOX',
  url: 'http://127.0.0.1/',
  timeoutMs,
  settleLosses: 'none',
  formerOrigins: [],
  bigWins: [],
  secret: 'secret',
}

/** What reaches a wallet-bridge besides its calls. */
export type BridgeProcess = {
  /** A note of another process about the wallet. */
  hear(note: BreakerNote): void
  /** The wallet's callback about a movement, signed. */
  callBack(transactionId: string): void
  /** A person says that the wallet has done it. */
  resolveAsDone(document: MovementDocument): void
}

/**
 * A wallet-bridge: the real settlement and calls on the model's tables, wallet and time; its resolver's loop
 * is the model's.
 */
export function startBridge(machine: Machine, world: World): BridgeProcess {
  const clock = { now: machine.now }
  const { timeline, movements: model, stream, bus, mistake, has, newId, scaleMs, onError } = world
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
    clock,
    scaleMs,
    newId,
    wait: (ms) => machine.wait(ms),
    wrapApply: (apply) => applyWith(apply, newId, has),
    ...(mistake.movementRules === undefined ? {} : { rules: mistake.movementRules }),
    wallets: walletsOf(machine),
    due,
    client: clientWith(world.wallet.clientOf(machine), newId, has),
    askStanding: standingWith(createAskStanding({ bus: bus.busOf(machine), clock, logger: silent }), has),
    audit,
    metrics: { callEnded: () => undefined, repeatedAtFirstTry: () => undefined },
    logger: silent,
    wake: () => undefined,
    notifyBreakers: (note) => world.bridges.tell(machine, note),
  })
  const placeMovement = boundStakes(settlement.placeMovement, machine, world)
  const { voidStake } = settlement
  const readMovements = createReadMovements({ movements })
  bus.serve(machine, movementCalls({ placeMovement, voidStake, readMovements }))

  poll({ machine, timeline, everyMs: 500, nextMs: model.nextDueMs, work: resolve })
  poll({ machine, timeline, everyMs: 1000, nextMs: oldestEventMs, work: relayAll })

  const { apply } = settlement
  const takeCallback = createTakeCallback({
    ...{ wallets: walletsOf(machine), movements, apply, clock, logger: silent },
    signatures: { use: async () => true },
    wake: () => undefined,
  })
  const resolveByPerson = createResolveByPerson({
    ...{ apply, movements, outbox, clock, scaleMs, newId },
    audit,
  })
  const order = { by: 'sim', reason: null, dryRun: false }
  const onMachine = (work: () => Promise<unknown>) =>
    machine.after(1, () => {
      work().catch((error: unknown) => {
        if (!isExpected(error)) onError(error)
      })
    })
  return {
    hear: (note) => machine.after(1, () => settlement.breakers.receive(note)),
    callBack(transactionId) {
      const rawBody = Buffer.from(JSON.stringify({ transactionId, status: 'UNKNOWN' }))
      const timestamp = signatureTimestamp(timeline.now())
      const signature = signBody(wallet.secret, timestamp, rawBody)
      const body = { rawBody: rawBody.toString('base64'), timestamp, signature }
      const to = { operator: `op_${scope.operatorId.replaceAll('-', '')}`, environment: 'TEST' }
      onMachine(() => takeCallback({ ...to, ...body }, 'sim'))
    },
    resolveAsDone(document) {
      onMachine(() => resolveByPerson(document, 'success', order, 'sim'))
    },
  }

  async function resolve(): Promise<void> {
    let after = ''
    for (;;) {
      const key = await due.nextWallet(after, clock.now())
      if (key === null) return
      after = key
      const found = await due.ofWallet(key, clock.now(), duePerLook)
      for (const document of found) {
        settlement.advance.advance(document, 'sim').catch((error: unknown) => {
          if (!isExpected(error)) onError(error)
        })
      }
    }
  }

  async function relayAll(): Promise<void> {
    for (const { _id, outbox: waiting } of model.table.values())
      if (waiting.length > 0) void outbox.relay({ _id })
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
export function walletsOf(machine: Machine): Wallets {
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
    changeSeen: async () => 'stale',
    create: never,
    replaceSecret: never,
    setFlagRules: never,
    keysAfter: async () => [],
  }
}
