import { readFileSync } from 'node:fs'
import * as calls from '@pitboss/contracts/calls/auth-ops'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { needsReason, onRun, runOps, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { fieldTable, textTable } from '../output.ts'
import { UsageError } from '../failures.ts'

const pageMax = 200

/** `user reset-factor`. Source: docs/contract.md, sections 10 and 12. */
export function userCommands(program: Command): void {
  const noun = program.command('user').description('people of accounts')
  const resetFactor = withChangeFlags(
    noun.command('reset-factor <user>').description('take the second factor of a person (id or e-mail) away'),
  ).option('--operator <operator>', 'where several accounts have the e-mail address')
  needsReason(resetFactor, ({ dryRun }) => dryRun !== true)
  onRun(resetFactor, async ({ bus, order, show, confirm }, user: string, flags) => {
    await confirm(`Take the second factor of ${user} away and sign the person out everywhere?`)
    const record = await bus.call(calls.opsResetFactor, { order, user, operator: flags.operator ?? null })
    show(record, `${record.user_id}  ${record.email}: no second factor`)
  })
}

/** `approval approve`. Source: docs/contract.md, sections 3 and 10. */
export function approvalCommands(program: Command): void {
  const noun = program.command('approval').description('grave acts of accounts that wait for a second person')
  const approve = withChangeFlags(
    noun
      .command('approve <approval>')
      .description('approve one of an account in which nobody can; two people of operations do so'),
  ).requiredOption('--operator <operator>', 'the account')
  needsReason(approve, ({ dryRun }) => dryRun !== true)
  onRun(approve, async ({ bus, order, show, confirm }, approval: string, flags) => {
    await confirm(`Approve ${approval} in place of a person of ${flags.operator}?`)
    const record = await bus.call(calls.opsApprove, {
      ...{ order, operator: flags.operator, approval_id: approval },
    })
    const state = record.status === 'PENDING' ? 'waits for a second person of operations' : record.status
    show(record, `${record.approval_id}  ${record.act}  ${record.object.id}: ${state}`)
  })
}

/** Reads the first line of a file. */
function readPassword(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').split(/\r?\n/)[0] ?? ''
  } catch {
    throw new InvalidArgumentError('It cannot be read.')
  }
}

/** `operator create|list|show|set`. Source: docs/contract.md, section 10. */
export function operatorCommands(program: Command): void {
  const noun = program.command('operator').description('accounts and their switches')

  const create = withChangeFlags(noun.command('create').description('make an account and its owner'))
    .requiredOption('--name <name>')
    .requiredOption('--email <address>')
    .option(
      '--password <password>',
      'of the owner; made up when left out. Others see it in the list of processes',
    )
    .option(
      '--password-file <file>',
      'a file with it in its first line; - is the standard input',
      readPassword,
    )
    .addOption(new Option('--plan <plan>').choices(['free', 'paid'] as const).default('free' as const))
    .option('--approved', 'approved for real money', false)
  onRun(create, async ({ bus, order, show, confirm }, flags) => {
    const { name, email, plan, approved } = flags
    const password = flags.passwordFile ?? flags.password ?? null
    await confirm(`Make the account ${name}?`)
    const made = await bus.call(calls.opsCreateOperator, {
      order,
      name,
      email,
      password,
      plan,
      approved,
      currencies: null,
    })
    show(
      made,
      `${made.operator_id}  ${made.name}\ndashboard login: ${made.dashboard.email}  ${made.dashboard.password}`,
    )
  })

  onRun(withCommonFlags(noun.command('list').description('all accounts')), async ({ bus, show }) => {
    const all = []
    let cursor: string | null = null
    do {
      const page: { data: Record<string, unknown>[]; next_cursor: string | null } = await bus.call(
        calls.opsListOperators,
        { cursor, limit: pageMax },
      )
      all.push(...page.data)
      cursor = page.next_cursor
    } while (cursor !== null)
    show(all, textTable(all))
  })

  const show = withCommonFlags(noun.command('show <operator>').description('one account'))
  onRun(show, async ({ bus, show }, operator: string) => {
    const record = await bus.call(calls.opsShowOperator, { operator })
    show(record, fieldTable(record))
  })

  withChangeFlags(noun.command('set <operator>').description('turn switches; in force everywhere within 2 s'))
    .addOption(new Option('--plan <plan>').choices(['free', 'paid'] as const))
    .addOption(new Option('--approved <yes|no>').choices(['yes', 'no'] as const))
    .addOption(new Option('--suspended <yes|no>').choices(['yes', 'no'] as const))
    .addOption(new Option('--live-play <state>').choices(['on', 'off', 'suspended'] as const))
    .action(async (operator: string, flags, command: Command) => {
      const { plan, approved, suspended, livePlay } = flags
      if ([plan, approved, suspended, livePlay].every((flag) => flag === undefined)) {
        throw new UsageError('name at least one of --plan, --approved, --suspended and --live-play')
      }
      await runOps(command, async ({ bus, order, show, confirm }) => {
        await confirm(`Change ${operator}?`)
        const record = await bus.call(calls.opsSetOperator, {
          order,
          operator,
          ...(plan === undefined ? {} : { plan }),
          ...(approved === undefined ? {} : { approved: approved === 'yes' }),
          ...(suspended === undefined ? {} : { suspended: suspended === 'yes' }),
          ...(livePlay === undefined ? {} : { live_play: livePlay }),
        })
        show(record, fieldTable(record))
      })
    })
}
