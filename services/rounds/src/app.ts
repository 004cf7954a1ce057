import { connectServiceBus } from '@pitboss/bus/connect-bus'
import { createConsumerMetrics } from '@pitboss/bus/consumer-metrics'
import { rewindCalls } from '@pitboss/bus/rewind-calls'
import { handler } from '@pitboss/bus/serve-calls'
import { serveService } from '@pitboss/bus/serve-service'
import { roundsMovements, webhooksFanout } from '@pitboss/bus/topology'
import { watchConsumer } from '@pitboss/bus/watch-consumer'
import { watchFullness } from '@pitboss/bus/watch-fullness'
import { movementsRewind } from '@pitboss/contracts/calls/rounds'
import { opsRewriteSeals } from '@pitboss/contracts/calls/seals'
import { newId } from '@pitboss/runtime/new-id'
import { startPoll } from '@pitboss/runtime/poll'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { whileClockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { connectServiceStorage } from '@pitboss/storage/connect-storage'
import { createConsumerPositions } from '@pitboss/storage/consumer-positions'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createRewindStore } from '@pitboss/storage/rewind-store'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { createSweepRounds, recoverRound } from './actions/recover-round.ts'
import { allWings, indexes, seals as places } from './all-wings.ts'
import { playerCalls, sessionCalls } from './calls/play.ts'
import { restoreCalls, roundCalls, transactionCalls } from './calls/rounds.ts'
import type { RoundsConfig } from './config.ts'
import { consumeMovements } from './consumers/movements.ts'
import { registerMetrics } from './metrics.ts'
import { openContext, openPlay, type RoundsProof } from './open-context.ts'
import { assertSeedsOpen, sealedInJournal } from './storage/chain-seals.ts'
import { upgradeStorage } from './storage/upgrade-storage.ts'
import { mountWings } from './wing.ts'

const service = 'rounds'
const concurrencyMax = 512
const sweepEveryMs = 500

type Given = {
  config: RoundsConfig
  host: Pick<ServiceHost, 'logger' | 'registry' | 'check' | 'stopping' | 'fail'>
  proof?: RoundsProof
}

export async function startRounds({ config, host, proof = {} }: Given): Promise<RunningService> {
  const { logger, registry } = host
  const ownStorage = await connectServiceStorage({ service, config, host })
  const storage = proof.storage?.(ownStorage) ?? ownStorage
  const { db, clock, clockAheadMs } = storage
  const plainBus = await connectServiceBus({ service, config, host })
  host.check('nats', () => plainBus.connected())
  const bus = proof.bus?.(plainBus) ?? plainBus
  const recording = proof.recording ?? watchConsumer({ bus: plainBus, consumer: webhooksFanout, logger })
  await storage.patiently((own) => ensureIndexes(own, indexes, logger, { drops: false }))
  const keyring = await openKeyring(db, config.PITBOSS_MASTER_KEYS)
  await assertSeedsOpen(db, keyring)
  const fullness = watchFullness(bus)
  const { core, audit, journal, copies } = await openContext({
    ...{ config, host, storage, bus, publisher: fullness.publisher, keyring },
    change: proof.context ?? ((context) => context),
  })
  const { context: mounted, open } = mountWings(core, proof.wings ?? allWings, {
    ...{ db, keyring, registry, clockAheadMs, returnsAlarm: config.PITBOSS_RETURNS_ALARM },
  })
  const rewinds = createRewindStore({ db, clock, newId })
  const watch = watchConsumer({
    bus,
    consumer: roundsMovements,
    remake: {
      ...{ positions: createConsumerPositions(db), orders: rewinds.orders },
      ...{ notes: () => true, onBack: () => undefined },
    },
    logger,
    ...(proof.nowMs === undefined ? {} : { nowMs: proof.nowMs }),
  })
  registerMetrics(registry, mounted.rounds)
  createConsumerMetrics({ registry, watch, consumer: roundsMovements })
  const { context, stopFollowing } = openPlay(mounted, {
    ...{ config, bus, registry, isStreamFull: fullness.isFull, isRecordingStopped: recording.isStalled },
  })
  const stopAudit = audit.start()
  const sweep = createSweepRounds(context, (stored) => recoverRound(context, stored), Math.random)
  const work = whileClockAgrees(clockAheadMs, sweep)
  await upgradeStorage({ ...context, db, journal })
  // What is older is found by indexes that nothing needs any more.
  await storage.patiently((own) => ensureIndexes(own, indexes, logger))
  journal.sums.by(context.hooks.folds)
  await journal.start()
  const workers = [
    watch,
    consumeMovements(context, bus, rewinds),
    startPoll({ event: 'sweep.failed', everyMs: sweepEveryMs, work, logger }),
    ...open.flatMap((wing) => wing.start?.() ?? []),
  ]
  const seals = createRewriteSeals({
    ...{ db, keyring, logger },
    places: [...places, sealedInJournal({ ...context, db, journal })],
  })
  const handlers = [
    ...sessionCalls(context),
    ...roundCalls(context),
    ...transactionCalls(context, proof.placeTransaction),
    ...rewindCalls(movementsRewind, roundsMovements, { bus, rewinds, audit: context.audit }),
    ...restoreCalls(context),
    ...playerCalls(context),
    handler(opsRewriteSeals.rounds, ({ order, after }) => seals.page({ after, isDry: order.dryRun })),
    ...open.flatMap((wing) => wing.calls),
  ]
  const calls = await serveService({
    ...{ bus, service, config, host, concurrencyMax, clockAheadMs },
    ...{ handlers, following: audit.following },
  })

  return {
    async stop() {
      await calls.stop()
      stopFollowing()
      for (const worker of workers) await worker.stop()
      await stopAudit()
      await journal.stop()
      copies.stop()
      await recording.stop()
      await plainBus.close()
      await storage.close()
    },
  }
}
