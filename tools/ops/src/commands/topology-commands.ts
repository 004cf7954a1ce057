import { JetStreamApiError } from '@nats-io/jetstream'
import { applyTopology } from '@pitboss/bus/apply-topology'
import type { EventsBounds } from '@pitboss/bus/topology'
import { ServiceError } from '@pitboss/errors/service-error'
import { ConfigError, eventsBounds, eventsConfig, parseConfig } from '@pitboss/runtime/load-config'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { UsageError } from '../failures.ts'
import { onRun, withChangeFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'

/**
 * `topology apply`: what a NATS of one's own needs before the services start; the stack does it by itself.
 * Source: ours.
 */
export function topologyCommands(program: Command): void {
  const noun = program.command('topology').description('streams, buckets and consumers in NATS')
  const apply = withChangeFlags(
    noun.command('apply').description('make or mend them; what is right stays as it is'),
  ).addOption(
    new Option('--replicas <number>', 'servers that keep each stream')
      .choices(['1', '3', '5'] as const)
      .makeOptionMandatory(),
  )
  apply
    .option('--events-max-mb <number>', 'megabytes that events may take (environment: PITBOSS_EVENTS_MAX_MB)')
    .option('--events-hours <number>', 'hours for which they are kept (environment: PITBOSS_EVENTS_HOURS)')
    .option('--events-days <number>', 'the same in days (environment: PITBOSS_EVENTS_DAYS)')
  onRun(apply, async ({ bus, order, show, note, confirm, audit }, flags) => {
    const replicas = Number(flags.replicas)
    const events = readBounds(flags)
    const planned = await applyTopology(bus.nc, { replicas, events, dryRun: true })
    const text = textTable(
      planned.map(({ what, change, differences }) => ({
        what,
        change,
        differences: differences.join('; '),
      })),
    )
    const changed = planned.filter(({ change }) => change !== 'none')
    if (!order.dryRun && changed.length > 0) {
      await confirm(`${changed.map(({ what, change }) => `${what}: ${change}`).join(', ')}. Go on?`)
      await applyTopology(bus.nc, { replicas, events }).catch(explain)
      await audit('topology.apply', null, {
        ...{ replicas, events_max_bytes: events.maxBytes, events_hours: events.hours },
        changed: changed.map(({ what }) => what),
      }).catch((error: unknown) => {
        // The services start after this: the first time nobody is there to keep the record.
        if (!(error instanceof ServiceError) || error.code !== 'SERVICE_UNAVAILABLE') throw error
        note('auth does not run yet, so there is no audit record of this')
      })
    }
    show(planned, text)
  })
}

/** @throws UsageError naming the flag or the variable that is out of its bounds */
function readBounds(flags: {
  eventsMaxMb?: string
  eventsHours?: string
  eventsDays?: string
}): EventsBounds {
  const { PITBOSS_EVENTS_MAX_MB, PITBOSS_EVENTS_HOURS, PITBOSS_EVENTS_DAYS } = process.env
  const given = {
    PITBOSS_EVENTS_MAX_MB: flags.eventsMaxMb ?? PITBOSS_EVENTS_MAX_MB,
    // A flag in days outweighs a setting in hours.
    PITBOSS_EVENTS_HOURS:
      flags.eventsHours ?? (flags.eventsDays === undefined ? PITBOSS_EVENTS_HOURS : undefined),
    PITBOSS_EVENTS_DAYS: flags.eventsDays ?? PITBOSS_EVENTS_DAYS,
  }
  try {
    const read = parseConfig(z.object(eventsConfig), given)
    return eventsBounds(read)
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error
  }
}

/** The server's own objection, such as more replicas than it has servers. */
function explain(error: unknown): never {
  if (!(error instanceof JetStreamApiError)) throw error
  throw new ServiceError('CONFLICT', { message: `NATS refuses it: ${error.message}.`, cause: error })
}
