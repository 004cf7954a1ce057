import {
  opsSetPlatform,
  opsShowPlatform,
  opsListKeys,
  opsRetireKey,
  opsRotateKeys,
  opsListAudit,
} from '@pitboss/contracts/calls/auth-ops'
import { opsSetGame, opsSetGameLimits } from '@pitboss/contracts/calls/rounds'
import { ServiceError } from '@pitboss/errors/service-error'
import { type Command, Option } from 'commander'
import { readOperator } from '../account-flags.ts'
import { UsageError } from '../failures.ts'
import { needsReason, onRun, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'
import { verifyAudit } from '../verify-audit.ts'
import { readCount } from '../read-flags.ts'

/** `platform show|set` and `game set|limits`. Source: docs/contract.md, section 10. */
export function platformCommands(program: Command): void {
  const noun = program.command('platform').description('switches of the whole platform')
  onRun(withCommonFlags(noun.command('show').description('how they stand')), async ({ bus, show }) => {
    const record = await bus.call(opsShowPlatform, {})
    show(record, `real money: ${record.real_money ? 'on' : 'off'}`)
  })
  const set = withChangeFlags(noun.command('set').description('turn them')).addOption(
    new Option('--real-money <on|off>').choices(['on', 'off'] as const).makeOptionMandatory(),
  )
  onRun(set, async ({ bus, order, show, confirm }, flags) => {
    await confirm(`Turn real-money play ${flags.realMoney} for everybody?`)
    const record = await bus.call(opsSetPlatform, { order, real_money: flags.realMoney === 'on' })
    show(record, `real money: ${record.real_money ? 'on' : 'off'}`)
  })

  const game = program.command('game').description('games of the whole platform')
  const setGame = withChangeFlags(
    game.command('set <slug>').description('take a game down or bring it back'),
  ).addOption(new Option('--status <status>').choices(['AVAILABLE', 'DOWN'] as const).makeOptionMandatory())
  onRun(setGame, async ({ bus, order, show, confirm }, slug: string, flags) => {
    await confirm(`Set ${slug} to ${flags.status} for everybody?`)
    const record = await bus.call(opsSetGame, { order, slug, status: flags.status })
    show(record, `${record.slug}: ${record.status}`)
  })

  const limits = withChangeFlags(
    game
      .command('limits <slug>')
      .description("what an account may use in place of the platform's limits, in either direction")
      .requiredOption('--operator <operator>', 'op_… handle or uuid', readOperator)
      .requiredOption('--currency <currency>', 'such as EUR')
      .option('--min-stake <amount>', 'the least stake')
      .option('--max-stake <amount>', 'the greatest stake')
      .option('--max-payout <amount>', 'the greatest payout of a round')
      .option('--platform', "back to the platform's limits"),
  )
  needsReason(limits, ({ dryRun }) => dryRun !== true)
  onRun(limits, async ({ bus, order, show, confirm }, slug: string, flags) => {
    const { operator: operatorId, currency, minStake, maxStake, maxPayout } = flags
    const wanted = {
      ...(minStake === undefined ? {} : { min_stake: minStake }),
      ...(maxStake === undefined ? {} : { max_stake: maxStake }),
      ...(maxPayout === undefined ? {} : { max_payout: maxPayout }),
    }
    const isBack = flags.platform === true
    if (isBack === Object.keys(wanted).length > 0) {
      throw new UsageError('name --min-stake, --max-stake or --max-payout, or --platform alone')
    }
    await confirm(`Set what this account may use in ${currency} of ${slug}?`)
    const request = { order, operatorId, slug, currency, limits: isBack ? null : wanted }
    const record = await bus.call(opsSetGameLimits, request)
    show(record, textTable(record.limits))
  })
}

/** `keys list|rotate|retire`. Source: docs/contract.md, section 10. */
export function keyCommands(program: Command): void {
  const noun = program.command('keys').description('token signing keys')
  const list = withCommonFlags(noun.command('list').description('keys that sign or verify'))
  onRun(list, async ({ bus, show }) => {
    const { data } = await bus.call(opsListKeys, {})
    show(data, textTable(data))
  })
  const rotate = withChangeFlags(
    noun
      .command('rotate')
      .description('a new key signs; the old one verifies until its last token has expired'),
  )
  onRun(rotate, async ({ bus, order, show, confirm }) => {
    await confirm('Make a new signing key?')
    const { data } = await bus.call(opsRotateKeys, { order })
    show(data, textTable(data))
  })
  const retire = withChangeFlags(
    noun.command('retire <kid>').description('a leaked key ends, and every token that it has signed'),
  ).requiredOption('--now', 'needed: everybody mints or signs in anew, players reopen their games')
  onRun(retire, async ({ bus, order, show, confirm }, kid: string) => {
    await confirm(`End ${kid} and every token that it has signed, of everybody?`)
    const { data } = await bus.call(opsRetireKey, { order, kid })
    show(data, textTable(data))
  })
}

/**
 * `audit list|verify`: who changed what, when and why, newest first, and whether the log is whole. Source:
 * docs/contract.md, section 10.
 */
export function auditCommands(program: Command): void {
  const noun = program.command('audit').description('who changed what')
  const list = withCommonFlags(noun.command('list').description('newest first')).option(
    '--limit <count>',
    'at most 200',
    readCount(200),
    50,
  )
  onRun(list, async ({ bus, show }, flags) => {
    const { data } = await bus.call(opsListAudit, { cursor: null, limit: flags.limit })
    show(data, textTable(data))
  })

  const check = withCommonFlags(
    noun
      .command('verify [operator]')
      .description('recompute the chain of an account, or of what belongs to none; exit code 1 for a fault'),
  )
  onRun(check, async ({ bus, show }, operator: string | undefined) => {
    const verified = await verifyAudit(bus, operator ?? null, new Date())
    const { entries, signed_until, signed_at, faults } = verified
    const until = signed_until === null ? 'not signed yet' : `signed until ${signed_until} at ${signed_at}`
    const found = faults.map(({ seq, what }) => `${seq}: ${what}`)
    show(
      verified,
      [`${entries} entries, ${until}`, ...(found.length === 0 ? ['no fault'] : found)].join('\n'),
    )
    if (faults.length > 0) throw new ServiceError('CONFLICT', { message: 'The audit log was changed.' })
  })
}
