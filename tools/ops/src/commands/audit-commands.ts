import { opsListAudit } from '@pitboss/contracts/calls/auth-ops'
import type { Command } from 'commander'
import { readCount } from '../read-flags.ts'
import { runOps, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../text-table.ts'

/** `audit list`: who changed what, when and why, newest first. Source: docs/contract.md, section 10. */
export function auditCommands(program: Command): void {
  const noun = program.command('audit').description('who changed what')
  withCommonFlags(noun.command('list').description('newest first'))
    .option('--limit <count>', 'at most 200', readCount(200), 50)
    .action(async (flags, command: Command) => {
      await runOps(command, async ({ bus, show }) => {
        const { data } = await bus.call(opsListAudit, { cursor: null, limit: flags.limit })
        show(data, textTable(data))
      })
    })
}
