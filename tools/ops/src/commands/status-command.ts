import { topology, webhooksFanout } from '@pitboss/bus/topology'
import { opsAuthStatus } from '@pitboss/contracts/calls/auth-ops'
import { opsRoundsStatus } from '@pitboss/contracts/calls/rounds'
import { opsWalletStatus } from '@pitboss/contracts/calls/wallet-ops'
import { opsWebhooksStatus } from '@pitboss/contracts/calls/webhooks'
import { clockDifferenceMaxMs } from '@pitboss/runtime/clock'
import type { Command } from 'commander'
import { type ConsumerView, viewConsumers } from '../consumer-view.ts'
import { onRun, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'
import { pingServices } from '../ping-services.ts'
import { type StreamView, viewEventsStream } from '../stream-view.ts'

/** `status`: services, engines, lag, and what waits longest. Source: docs/contract.md, section 10. */
export function statusCommand(program: Command): void {
  const status = withCommonFlags(program.command('status').description('how everything stands'))
  onRun(status, async ({ bus, show }) => {
    const problems: string[] = []
    /**
     * A part that cannot be reached is null and named: a status is wanted most when something is down.
     */
    const ask = <Answer>(what: string, answer: Promise<Answer>): Promise<Answer | null> =>
      answer.catch((error: unknown) => {
        problems.push(`${what}: ${error instanceof Error ? error.message : String(error)}`)
        return null
      })
    const [services, stream, consumers, movements, deliveries, rounds, database] = await Promise.all([
      pingServices(bus),
      ask('stream', viewEventsStream(bus)),
      ask('consumers', viewConsumers(bus)),
      ask('wallet-bridge', bus.call(opsWalletStatus, {})),
      ask('webhooks', bus.call(opsWebhooksStatus, {})),
      ask('rounds', bus.call(opsRoundsStatus, {})),
      ask('auth', bus.call(opsAuthStatus, {})),
    ])
    for (const { name, clock_ahead_ms } of services) {
      if (clock_ahead_ms === null || Math.abs(clock_ahead_ms) <= clockDifferenceMaxMs) continue
      problems.push(
        `${name}: its clock is ${clock_ahead_ms} ms ahead of its database's, so it refuses to work`,
      )
    }
    if (stream?.full === true) {
      problems.push(
        `${stream.name} is full: it takes no event, so new play is refused and events wait in the journals; ops topology apply with more --events-max-mb, or fewer --events-hours`,
      )
    }
    if (consumers !== null) problems.push(...consumerProblems(consumers))
    const nats = {
      version: bus.nc.info?.version ?? null,
      server: bus.nc.info?.server_name ?? null,
      cluster: bus.nc.info?.cluster ?? null,
    }
    const mongodb = database?.mongodb ?? null
    const engines = { mongodb, nats }
    const record = { services, engines, stream, consumers, movements, deliveries, rounds, problems }
    const text = [
      textTable(services),
      stream === null ? 'stream: unknown' : streamText(stream),
      consumers === null ? 'consumers: unknown' : textTable(consumers),
      movements === null
        ? 'movements: unknown'
        : `movements: ${movements.pending} pending, oldest ${movements.oldest_pending_at ?? '-'}; alarms ${JSON.stringify(movements.alarms)}; breakers open: ${movements.breakers_open.join(', ') || 'none'}`,
      deliveries === null
        ? 'deliveries: unknown'
        : `deliveries: ${deliveries.pending} pending, oldest due ${deliveries.oldest_due_at ?? '-'}, ${deliveries.held} held, ${deliveries.parked} messages parked, ${deliveries.paused_endpoints} endpoints paused`,
      rounds === null
        ? 'rounds: unknown'
        : `rounds: ${rounds.unfinished} unfinished, oldest ${rounds.oldest_unfinished_at ?? '-'}`,
      `engines: MongoDB ${mongodb === null ? 'unknown' : `${mongodb.version} (answers in ${mongodb.ping_ms} ms)`}, NATS ${nats.version ?? '?'}`,
      ...(problems.length === 0 ? [] : [`PROBLEMS\n${problems.toSorted().join('\n')}`]),
    ]
    show(record, text.join('\n\n'))
  })
}

/** Durable consumers that are missing, or of which messages wait while none is acknowledged. */
export function consumerProblems(
  consumers: readonly Pick<ConsumerView, 'name' | 'pending' | 'lag_s' | 'paused' | 'stalled'>[],
): string[] {
  return topology.consumers.flatMap(({ config: { durable_name: name } }) => {
    const found = consumers.find((one) => one.name === name)
    const effect = name === webhooksFanout.config.durable_name ? ', so new play is refused' : ''
    if (found === undefined)
      return [
        `consumer ${name} is missing: its service makes it again 15 s after it was missed; else ops topology apply`,
      ]
    if (!found.stalled) return []
    const remedy = found.paused
      ? `it is paused; ops consumer resume ${name}`
      : 'look at its service and database'
    return [`consumer ${name}: messages wait for ${found.lag_s} s and none is recorded${effect}: ${remedy}`]
  })
}

function streamText({ name, messages, bytes, max_bytes: most, full }: StreamView): string {
  const mb = (count: number) => Math.ceil(count / 2 ** 20)
  const room = most === null ? `${mb(bytes)} MiB, no bound` : `${mb(bytes)} of ${mb(most)} MiB`
  return `stream ${name}: ${messages} events, ${room}${full ? ', FULL' : ''}`
}
