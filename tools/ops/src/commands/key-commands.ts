import { opsListKeys, opsRotateKeys } from '@pitboss/contracts/calls/auth-ops'
import type { Command } from 'commander'
import { runOps, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../text-table.ts'

/** `keys list|rotate`. Source: docs/contract.md, section 10. */
export function keyCommands(program: Command): void {
  const noun = program.command('keys').description('token signing keys')
  withCommonFlags(noun.command('list').description('keys that sign or verify')).action(
    async (_flags, command: Command) => {
      await runOps(command, async ({ bus, show }) => {
        const { data } = await bus.call(opsListKeys, {})
        show(data, textTable(data))
      })
    },
  )
  withChangeFlags(
    noun
      .command('rotate')
      .description('a new key signs; the old one verifies until its last token has expired'),
  ).action(async (_flags, command: Command) => {
    await runOps(command, async ({ bus, order, show, confirm }) => {
      await confirm('Make a new signing key?')
      const { data } = await bus.call(opsRotateKeys, { order })
      show(data, textTable(data))
    })
  })
}
