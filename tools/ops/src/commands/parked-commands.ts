import { opsListParked, opsRetryParked, opsShowParked } from '@pitboss/contracts/calls/webhooks'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Command } from 'commander'
import { runOps, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../text-table.ts'

const listMax = 1000

/** `parked list|show|retry`: messages that could not be handled. Source: docs/contract.md, section 10. */
export function parkedCommands(program: Command): void {
  const noun = program.command('parked').description('messages that could not be handled')
  withCommonFlags(noun.command('list')).action(async (_flags, command: Command) => {
    await runOps(command, async ({ bus, show }) => {
      const { data } = await bus.call(opsListParked, { limit: listMax })
      show(data, textTable(data.map(({ payload: _, ...row }) => row)))
    })
  })
  withCommonFlags(noun.command('show <id>')).action(async (parkedId: string, _flags, command: Command) => {
    await runOps(command, async ({ bus, show }) => {
      const record = await bus.call(opsShowParked, { parkedId })
      show(record, textTable(Object.entries(record).map(([field, value]) => ({ field, value }))))
    })
  })
  withChangeFlags(noun.command('retry <id>')).action(async (parkedId: string, _flags, command: Command) => {
    await runOps(command, async ({ bus, order, show, confirm, audit }) => {
      await confirm(`Try ${parkedId} again?`)
      const result = await bus.call(opsRetryParked, { order, parkedId })
      await audit('parked.retry', parkedId, { handled: result.handled })
      if (!result.handled && !order.dryRun)
        throw new ServiceError('CONFLICT', {
          message: `It failed again: ${result.error ?? 'for an unknown reason'}`,
        })
      show(result, `${parkedId}: handled`)
    })
  })
}
