import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import { applyTopology } from '@pitboss/bus/apply-topology'
import type { Bus } from '@pitboss/bus/connect-bus'
import { boundedStreams, eventsStream } from '@pitboss/bus/topology'
import { opsAuthStatus, opsListKeys } from '@pitboss/contracts/calls/auth-ops'
import { opsRoundsStatus } from '@pitboss/contracts/calls/rounds'
import { opsWalletStatus } from '@pitboss/contracts/calls/wallet-ops'
import { opsWebhooksStatus } from '@pitboss/contracts/calls/webhooks'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Command } from 'commander'
import { viewConsumers } from '../consumer-view.ts'
import { diagnose, type Facts } from '../diagnose.ts'
import { onRun, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'
import { pingServices, serviceNames } from '../ping-services.ts'

const nanosPerHour = 60 * 60 * 1e9

/**
 * `doctor`: reads everything that a new person on call would ask for and judges it; exit code 1 when
 * something is bad. Changes nothing. Source: ours.
 */
export function doctorCommand(program: Command): void {
  const doctor = withCommonFlags(
    program.command('doctor').description('what is wrong, how bad it is, and what to do about it'),
  )
  onRun(doctor, async ({ bus, show, note }) => {
    const findings = diagnose(await readFacts(bus, note), new Date())
    const count = (level: string) => findings.filter((one) => one.level === level).length
    const summary = { ok: count('ok'), warn: count('warn'), bad: count('bad') }
    show({ summary, findings }, textTable(findings))
    if (summary.bad > 0)
      throw new ServiceError('CONFLICT', { message: `${summary.bad} of ${findings.length} checks are bad.` })
  })
}

async function readFacts(bus: Bus, note: (text: string) => void): Promise<Facts> {
  /** A part that does not answer is null, and a finding of its own. */
  const ask = <Answer>(what: string, answer: Promise<Answer>): Promise<Answer | null> =>
    answer.catch((error: unknown) => {
      note(`${what}: ${error instanceof Error ? error.message : String(error)}`)
      return null
    })
  const manager = await ask('JetStream', jetstreamManager(bus.nc))
  const streams = manager === null ? null : await ask('streams', readStreams(manager))
  const present = streams?.find(({ name }) => name === eventsStream.name)
  const replicas = present?.replicas ?? 1
  // What operations chose for it is right; everything else is as declared.
  const streamsNow = boundedStreams({ maxBytes: present?.max ?? -1, hours: present?.hours ?? 720 })
  const [answered, storage, topology, consumers, movements, deliveries, rounds, database, keys] =
    await Promise.all([
      pingServices(bus),
      manager === null ? null : ask('JetStream', readStorage(manager)),
      ask('topology', applyTopology(bus.nc, { replicas, streams: streamsNow, dryRun: true })),
      ask('consumers', viewConsumers(bus)),
      ask('wallet-bridge', bus.call(opsWalletStatus, {})),
      ask('webhooks', bus.call(opsWebhooksStatus, {})),
      ask('rounds', bus.call(opsRoundsStatus, {})),
      ask('auth', bus.call(opsAuthStatus, {})),
      ask('auth', bus.call(opsListKeys, {})),
    ])
  const services = serviceNames.map(
    (name) =>
      answered.find((one) => one.name === name) ?? { name, replicas: 0, versions: '', clock_ahead_ms: null },
  )
  const server = bus.nc.info
  const nats = {
    version: server?.version ?? 'unknown',
    tls: server?.tls_required === true,
    local: ['127.0.0.1', '::1', 'localhost'].includes(new URL(`nats://${bus.nc.getServer()}`).hostname),
  }
  return {
    ...{ services, nats, storage, streams, topology, consumers, movements, deliveries, rounds },
    database: database?.mongodb ?? null,
    keys: keys?.data ?? null,
  }
}

async function readStreams(manager: JetStreamManager): Promise<NonNullable<Facts['streams']>> {
  const streams: NonNullable<Facts['streams']>[number][] = []
  for await (const { config, cluster, state } of manager.streams.list()) {
    const late = (cluster?.replicas ?? []).filter(({ current, offline }) => !current || offline === true)
    streams.push({
      ...{ name: config.name, replicas: config.num_replicas, late: late.length },
      ...{ bytes: state.bytes, max: config.max_bytes > 0 ? config.max_bytes : null },
      hours: config.max_age / nanosPerHour,
    })
  }
  return streams
}

async function readStorage(manager: JetStreamManager): Promise<NonNullable<Facts['storage']>> {
  const { storage, limits } = await manager.getAccountInfo()
  return { used: storage, max: limits.max_storage > 0 ? limits.max_storage : null }
}
