import { setTimeout as delay } from 'node:timers/promises'
import {
  type ConsumerConfig,
  DeliverPolicy,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream'
import type { Bus } from '@pitboss/bus/connect-bus'
import { webhooksFanout } from '@pitboss/bus/topology'
import { movementsRewind } from '@pitboss/contracts/calls/rounds'
import { fanoutRewind, opsListParked, opsRetryParked, opsShowParked } from '@pitboss/contracts/calls/webhooks'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Command } from 'commander'
import { beginConsumerAnew } from '../begin-consumer-anew.ts'
import { type ConsumerView, viewConsumers } from '../consumer-view.ts'
import { onRun, type OpsRun, runOps, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { readCount, readInstant } from '../read-flags.ts'
import { fieldTable, textTable } from '../output.ts'
import { UsageError } from '../failures.ts'

const pausedUntil = new Date('2999-12-31T00:00:00Z')
const askEveryMs = 250

const pauseWarning =
  'While events wait, webhooks is not ready from 15 s on and new play is refused, until it is resumed; what is owed is settled.'

/** Calls that ask the service which works a consumer to count a rewind of it. */
const counted = new Map([
  ['webhooks-fanout', fanoutRewind],
  ['rounds-movements', movementsRewind],
])

/** `consumer list|show|pause|resume|rewind`. Source: docs/contract.md, section 10. */
export function consumerCommands(program: Command): void {
  const noun = program.command('consumer').description('durable JetStream consumers')
  onRun(withCommonFlags(noun.command('list')), async ({ bus, show }) => {
    const views = await viewConsumers(bus)
    show(views, textTable(views))
  })
  onRun(withCommonFlags(noun.command('show <name>')), async ({ bus, show }, name: string) => {
    const view = await find(bus, name)
    const { config, delivered, ack_floor } = await (await jetstreamManager(bus.nc)).consumers.info(
      view.stream,
      name,
    )
    const record = {
      ...view,
      delivered_seq: delivered.stream_seq,
      acknowledged_seq: ack_floor.stream_seq,
      config,
    }
    show(record, fieldTable(record))
  })
  for (const verb of ['pause', 'resume'] as const) {
    const change = withChangeFlags(noun.command(`${verb} <name>`))
    onRun(change, async ({ bus, order, show, note, confirm, audit }, name: string) => {
      const view = await find(bus, name)
      if (verb === 'pause' && name === webhooksFanout.config.durable_name) note(pauseWarning)
      await confirm(`${verb} ${name}?`)
      await audit(`consumer.${verb}`, name, {})
      if (!order.dryRun) {
        const { consumers } = await jetstreamManager(bus.nc)
        await (verb === 'pause'
          ? consumers.pause(view.stream, name, pausedUntil)
          : consumers.resume(view.stream, name))
      }
      const after = order.dryRun ? { ...view, paused: verb === 'pause' } : await find(bus, name)
      show(after, `${name}: ${after.paused ? 'paused' : 'running'}, ${after.pending} pending`)
    })
  }
  withChangeFlags(
    noun.command('rewind <name>').description('replay from a point; changes nothing that is already right'),
  )
    .option('--from-seq <number>', 'first stream sequence', readCount(Number.MAX_SAFE_INTEGER))
    .option('--from-time <time>', 'first message time', readInstant)
    .action(async (name: string, flags, command: Command) => {
      if ((flags.fromSeq === undefined) === (flags.fromTime === undefined))
        throw new UsageError('give either --from-seq or --from-time')
      await runOps(command, (run) => rewind(run, name, flags))
    })
}

async function rewind(
  run: OpsRun,
  name: string,
  from: { fromSeq?: number; fromTime?: string },
): Promise<void> {
  const { bus, order, show, note, follow, confirm } = run
  const view = await find(bus, name)
  const manager = await jetstreamManager(bus.nc)
  const calls = counted.get(name)
  if (calls === undefined)
    throw new ServiceError('CONFLICT', {
      message: `${name} belongs to no service that could count a rewind.`,
    })
  if (view.paused && !order.dryRun)
    throw new ServiceError('CONFLICT', {
      message: `${name} is paused; resume it first: consumer resume ${name}`,
    })
  const { state } = await manager.streams.info(view.stream)
  const fromSeq = Math.max(
    state.first_seq,
    from.fromSeq ?? (await seqAt(bus, view.stream, from.fromTime ?? '', state.last_seq)),
  )
  const toSeq = state.last_seq
  const count = fromSeq > toSeq ? 0 : await countFrom(bus, manager, view, fromSeq)
  note(`${name} would see ${count} messages of ${view.stream} again, sequence ${fromSeq} to ${toSeq}`)
  const nothing = { consumer: name, from: fromSeq, seen: 0, repaired: 0, unchanged: 0, parked: 0 }
  if (order.dryRun || count === 0)
    return show({ ...nothing, would_see: count }, `${count} messages would be replayed`)
  await confirm(`Replay them?`)
  const started = await bus.call(calls.start, { order, fromSeq, toSeq })
  await beginConsumerAnew(bus, { stream: view.stream, name, fromSeq })
  const { seen, repaired, unchanged, parked } = await follow(count, async (progress) => {
    let state = started
    while (!state.done) {
      await delay(askEveryMs)
      state = await bus.call(calls.show, { rewindId: started.rewind_id })
      progress.tell(
        state.seen,
        `${state.seen} of ${count} seen, ${state.repaired} repaired, ${state.unchanged} unchanged, ${state.parked} parked`,
      )
    }
    return state
  })
  show(
    { consumer: name, from: fromSeq, seen, repaired, unchanged, parked },
    `${seen} seen, ${repaired} repaired, ${unchanged} unchanged, ${parked} parked`,
  )
}

/** Number of messages that the consumer's filter lets through from `fromSeq` on. */
async function countFrom(
  bus: Bus,
  manager: JetStreamManager,
  { stream, name }: ConsumerView,
  fromSeq: number,
): Promise<number> {
  const { config } = await manager.consumers.info(stream, name)
  const like = await jetstream(bus.nc).consumers.get(stream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: fromSeq,
    ...filterOf(config),
  })
  const { num_pending: count } = await like.info()
  await like.delete()
  return count
}

function filterOf({ filter_subject: one, filter_subjects: many }: ConsumerConfig) {
  if (one !== undefined) return { filter_subjects: one }
  return many === undefined ? {} : { filter_subjects: many }
}

/** The first sequence at or after `time`, or one past the end. */
async function seqAt(bus: Bus, stream: string, time: string, lastSeq: number): Promise<number> {
  const consumer = await jetstream(bus.nc).consumers.get(stream, {
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: time,
  })
  const first = await consumer.next({ expires: 2000 })
  return first?.seq ?? lastSeq + 1
}

async function find(bus: Bus, name: string): Promise<ConsumerView> {
  const view = (await viewConsumers(bus)).find((each) => each.name === name)
  if (view === undefined)
    throw new ServiceError('NOT_FOUND', {
      message: `There is no consumer ${name}; "consumer list" shows them.`,
    })
  return view
}

const listMax = 1000

/** `parked list|show|retry`: messages that could not be handled. Source: docs/contract.md, section 10. */
export function parkedCommands(program: Command): void {
  const noun = program.command('parked').description('messages that could not be handled')
  onRun(withCommonFlags(noun.command('list')), async ({ bus, show }) => {
    const { data } = await bus.call(opsListParked, { limit: listMax })
    show(data, textTable(data.map(({ payload: _, ...row }) => row)))
  })
  onRun(withCommonFlags(noun.command('show <id>')), async ({ bus, show }, parkedId: string) => {
    const record = await bus.call(opsShowParked, { parkedId })
    show(record, fieldTable(record))
  })
  const retry = withChangeFlags(noun.command('retry <id>'))
  onRun(retry, async ({ bus, order, show, confirm }, parkedId: string) => {
    await confirm(`Try ${parkedId} again?`)
    const result = await bus.call(opsRetryParked, { order, parkedId })
    if (!result.handled && !order.dryRun)
      throw new ServiceError('CONFLICT', {
        message: `It failed again: ${result.error ?? 'for an unknown reason'}`,
      })
    show(result, `${parkedId}: handled`)
  })
}
