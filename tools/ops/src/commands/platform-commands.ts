import { opsSetPlatform, opsShowPlatform } from '@pitboss/contracts/calls/auth-ops'
import { opsSetGame } from '@pitboss/contracts/calls/rounds'
import { type Command, Option } from 'commander'
import { runOps, withChangeFlags, withCommonFlags } from '../ops-run.ts'

/** `platform show|set` and `game set`. Source: docs/contract.md, section 10. */
export function platformCommands(program: Command): void {
  const noun = program.command('platform').description('switches of the whole platform')
  withCommonFlags(noun.command('show').description('how they stand')).action(
    async (_flags, command: Command) => {
      await runOps(command, async ({ bus, show }) => {
        const record = await bus.call(opsShowPlatform, {})
        show(record, `real money: ${record.real_money ? 'on' : 'off'}`)
      })
    },
  )
  withChangeFlags(noun.command('set').description('turn them'))
    .addOption(new Option('--real-money <on|off>').choices(['on', 'off'] as const).makeOptionMandatory())
    .action(async (flags, command: Command) => {
      await runOps(command, async ({ bus, order, show, confirm }) => {
        await confirm(`Turn real-money play ${flags.realMoney} for everybody?`)
        const record = await bus.call(opsSetPlatform, { order, real_money: flags.realMoney === 'on' })
        show(record, `real money: ${record.real_money ? 'on' : 'off'}`)
      })
    })

  const game = program.command('game').description('games of the whole platform')
  withChangeFlags(game.command('set <slug>').description('take a game down or bring it back'))
    .addOption(new Option('--status <status>').choices(['AVAILABLE', 'DOWN'] as const).makeOptionMandatory())
    .action(async (slug: string, flags, command: Command) => {
      await runOps(command, async ({ bus, order, show, confirm, audit }) => {
        await confirm(`Set ${slug} to ${flags.status} for everybody?`)
        const record = await bus.call(opsSetGame, { order, slug, status: flags.status })
        await audit('game.set', slug, { status: flags.status })
        show(record, `${record.slug}: ${record.status}`)
      })
    })
}
