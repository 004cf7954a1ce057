import { opsListMovements, opsResolveMovement, opsShowMovement } from '@pitboss/contracts/calls/wallet'
import { type Command, Option } from 'commander'
import { runOps, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { readCount, readDuration } from '../read-flags.ts'
import { textTable } from '../text-table.ts'
import { UsageError } from '../usage-error.ts'

/** `movement list|show|resolve`. Source: contract section 10. */
export function movementCommands(program: Command): void {
  const noun = program.command('movement').description('money on its way')
  withCommonFlags(noun.command('list'))
    .addOption(
      new Option('--status <status>').choices([
        'PENDING',
        'SUCCESS',
        'FAILED',
        'REFUNDED',
        'ROLLED_BACK',
      ] as const),
    )
    .option('--older-than <duration>', 'such as 5m', readDuration)
    .option('--limit <count>', 'at most 1000', readCount(1000), 100)
    .action(async (flags, command: Command) => {
      await runOps(command, async ({ bus, show }) => {
        const { data } = await bus.call(opsListMovements, {
          status: flags.status ?? null,
          olderThanS: flags.olderThan ?? null,
          limit: flags.limit,
        })
        show(
          data,
          textTable(
            data.map(
              ({ reference, type, status, amount, currency, age_s, next_attempt_at, operator_id }) => ({
                reference,
                type,
                status,
                amount,
                currency,
                age_s,
                next_attempt_at,
                operator_id,
              }),
            ),
          ),
        )
      })
    })
  withCommonFlags(
    noun.command('show <reference>').description('by reference (txn_…) or transaction id'),
  ).action(async (reference: string, _flags, command: Command) => {
    await runOps(command, async ({ bus, show }) => {
      const record = await bus.call(opsShowMovement, { reference })
      show(
        record,
        `${textTable(Object.entries(record.movement).map(([field, value]) => ({ field, value })))}\n\n${textTable(record.attempts)}`,
      )
    })
  })
  withChangeFlags(noun.command('resolve <reference>').description("end an owed movement by a person's word"))
    .addOption(new Option('--as <end>').choices(['success', 'failed'] as const).makeOptionMandatory())
    .action(async (reference: string, flags, command: Command) => {
      await runOps(command, async ({ bus, order, show, confirm, audit }) => {
        if (order.reason === null) throw new UsageError('--reason is needed: it goes into the audit log')
        await confirm(`End ${reference} as ${flags.as}? Nobody will try it again.`)
        const record = await bus.call(opsResolveMovement, { order, reference, as: flags.as })
        await audit('movement.resolve', reference, { as: flags.as })
        show(record, `${record.reference}: ${record.status}`)
      })
    })
}
