import { JetStreamApiError } from '@nats-io/jetstream'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { ServiceError } from '@pitboss/errors/service-error'
import { type Command, Option } from 'commander'
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
  onRun(apply, async ({ bus, order, show, note, confirm, audit }, flags) => {
    const replicas = Number(flags.replicas)
    const planned = await applyTopology(bus.nc, { replicas, dryRun: true })
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
      await applyTopology(bus.nc, { replicas }).catch(explain)
      await audit('topology.apply', null, { replicas, changed: changed.map(({ what }) => what) }).catch(
        (error: unknown) => {
          // The services start after this: the first time nobody is there to keep the record.
          if (!(error instanceof ServiceError) || error.code !== 'SERVICE_UNAVAILABLE') throw error
          note('auth does not run yet, so there is no audit record of this')
        },
      )
    }
    show(planned, text)
  })
}

/** The server's own objection, such as more replicas than it has servers. */
function explain(error: unknown): never {
  if (!(error instanceof JetStreamApiError)) throw error
  throw new ServiceError('CONFLICT', { message: `NATS refuses it: ${error.message}.`, cause: error })
}
