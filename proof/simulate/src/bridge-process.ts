import { scopeKey } from '@pitboss/contracts/caller'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { notStarted } from '@pitboss/bus/call-failure'
import { ServiceError } from '@pitboss/errors/service-error'
import { movementActions, movementCalls } from '@pitboss/wallet-bridge/calls/movements'
import { dueWith, movementsWith, rulesWith, standingWith } from '@pitboss/bugs/wallet-bridge-bugs'
import { clientWith } from '@pitboss/bugs/wallet-client-bugs'
import { resolveByPerson } from '@pitboss/wallet-bridge/actions/operate-movements'
import { handleCallback } from '@pitboss/wallet-bridge/actions/handle-callback'
import { createAskStanding } from '@pitboss/wallet-bridge/clients/ask-standing'
import type { BreakerNote } from '@pitboss/wallet-bridge/clients/breakers'
import { advanceDue } from '@pitboss/wallet-bridge/actions/advance-due'
import type { MovementDocument } from '@pitboss/wallet-bridge/storage/movement-document'
import { signBody, signatureTimestamp } from '@pitboss/signing/body-signature'
import { openSettlement } from '@pitboss/wallet-bridge/context'
import type { Wallet, Wallets } from '@pitboss/wallet-bridge/storage/wallet-document'
import type { Journal } from '@pitboss/storage/journal/journal'
import { advanceMovement } from '@pitboss/wallet-bridge/rules/advance-movement'
import { hasAnswer } from '@pitboss/wallet-bridge/rules/movement'
import { type MoneyFact, moneyStream } from '@pitboss/wallet-bridge/storage/round-money'
import type { DueMovements } from '@pitboss/wallet-bridge/storage/unfinished-movements'
import { isExpected } from './is-expected.ts'
import type { Machine } from './machine.ts'
import { endDoubts } from './end-doubts.ts'
import { poll } from './poll.ts'
import { runMoney } from './run-money.ts'
import { scope, silent, type World } from './world.ts'

const timeoutMs = 1000
const audit = { entry: () => sampleAuditEntry() }
const duePerLook = 128
const boundReadMs = 3000

const wallet: Wallet = {
  key: scopeKey(scope),
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
  /** Operations end the stakes in doubt as events tell. */
  endDoubts(): Promise<void>
}

/**
 * A wallet-bridge: the real settlement and calls on the model's tables, wallet and time; its resolver's loop
 * is the model's.
 */
export function startBridge(machine: Machine, world: World): BridgeProcess {
  const clock = { now: machine.now }
  const { timeline, bus, mistake, has, newId, scaleMs, onError } = world
  const { running, unfinished, movements: stored, notedTo } = runMoney(machine, world)
  const movements = movementsWith(stored, newId, has)
  const due = watchedDue(dueWith(unfinished, has), { ...running.journal, notedTo }, world)
  const settlement = openSettlement({
    movements,
    clock,
    scaleMs,
    newId,
    wait: (ms) => machine.wait(ms),
    wrapRules: (rules) => rulesWith(mistake.movementRules ?? rules, newId, has),
    wallets: walletsOf(machine),
    due,
    client: clientWith(world.wallet.clientOf(machine), newId, has),
    askStanding: standingWith(
      createAskStanding({ bus: bus.busOf(machine), clock, inDoubtBefore: null, logger: silent }),
      has,
    ),
    audit,
    metrics: { callEnded: () => undefined, repeatedAtFirstTry: () => undefined },
    logger: silent,
    wake: () => undefined,
    notifyBreakers: (note) => world.bridges.tell(machine, note),
  })
  const actions = { ...movementActions, placeMovement: boundStakes(machine, world) }
  running.start().then(() => {
    bus.serve(machine, movementCalls(settlement, watchedAnswers(actions, world)))
    poll({
      ...{ machine, timeline, everyMs: 500, idleMsMax: 2000 },
      nextMs: unfinished.nextDueMs,
      work: resolve,
    })
  }, onError)

  const callbacks = {
    ...settlement,
    ...{ signatures: { use: async () => true }, wake: () => undefined },
  }
  // Operations do not err, whatever the service does.
  const ofOperations: typeof settlement = {
    ...settlement,
    rules: (state, message) => advanceMovement(state, message, scaleMs),
  }
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
      onMachine(() => handleCallback(callbacks, { ...to, ...body }, 'sim'))
    },
    resolveAsDone(document) {
      onMachine(() => resolveByPerson(settlement, document, { as: 'success', order }, 'sim'))
    },
    endDoubts: () => endDoubts(world, ofOperations),
  }

  async function resolve(): Promise<void> {
    let after = ''
    for (;;) {
      const key = await due.nextWallet(after, clock.now())
      if (key === null) return
      after = key
      const found = await due.ofWallet(key, clock.now(), duePerLook)
      for (const document of found) {
        advanceDue(settlement, document, 'sim').catch((error: unknown) => {
          if (!isExpected(error)) onError(error)
        })
      }
    }
  }
}

/**
 * As place-movement.ts's own bound does it when the stakes of others fill the wallet's places: after its
 * first reads, before any write.
 */
function boundStakes(
  machine: Machine,
  { faults, random: { fork }, timeline }: World,
): typeof movementActions.placeMovement {
  const random = fork(`places/${machine.name}/${timeline.nowMs()}`)
  return async (settlement, scope, order, context) => {
    if (order.spec.type !== 'BET' || faults.fair() || !random.chance(faults.shed)) {
      return movementActions.placeMovement(settlement, scope, order, context)
    }
    await machine.wait(random.between(1, boundReadMs))
    throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: notStarted })
  }
}

/** Has the run look at every movement that an answer names. */
function watchedAnswers(
  actions: typeof movementActions,
  { checks: { movementAnswered } }: World,
): typeof movementActions {
  return {
    async placeMovement(...args) {
      const stored = await actions.placeMovement(...args)
      movementAnswered(stored.document)
      return stored
    },
    async voidStake(...args) {
      const voided = await actions.voidStake(...args)
      for (const one of [voided.stake, voided.rollback]) if (one !== null) movementAnswered(one)
      return voided
    },
    async findAnswered(...args) {
      const found = await actions.findAnswered(...args)
      // Who asks before the first try has ended waits for it.
      if (found?.answered === true) movementAnswered(found.document)
      return found
    },
    async listOfRound(...args) {
      const found = await actions.listOfRound(...args)
      for (const one of found) if (hasAnswer(one)) movementAnswered(one)
      return found
    },
  }
}

/** Has the run look at what a pull forward has made due. */
function watchedDue(
  due: DueMovements,
  { instance, notedTo }: Pick<Journal<MoneyFact>, 'instance'> & { notedTo: (stream: string) => number },
  { checks: { backlogPulled }, movements }: World,
): DueMovements {
  // An entry may stand whose writer has no answer yet: he puts the movement forward with it.
  const isKnown = (movement: MovementDocument) => notedTo(moneyStream(movement)) >= movement.n
  return {
    ...due,
    async pullForward(walletKey, now) {
      const o = instance()
      // What changes while it is read is tried by others, or has a new time.
      const waiting = new Map([...movements.table].filter(([, movement]) => isKnown(movement)))
      const pulled = await due.pullForward(walletKey, now)
      const found = await due.ofWallet(walletKey, now, Number.POSITIVE_INFINITY)
      if (o !== null) backlogPulled({ o, now, waiting, due: new Set(found.map(({ _id }) => _id)) })
      return pulled
    },
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
    copy: () => machine.io('find wallet', () => document),
    open: () => machine.io('open wallet', () => wallet),
    openDocument: () => wallet,
    change: never,
    drop: async () => undefined,
    create: never,
    replaceSecret: never,
    setFlagRules: never,
    keysAfter: async () => [],
  }
}
