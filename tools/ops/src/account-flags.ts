import { operatorIdOf } from '@pitboss/contracts/primitives'
import { type Command, Option } from 'commander'
import { UsageError } from './failures.ts'

/** Adds the flags that name an account and an environment. */
export function withAccount(command: Command): Command {
  return command
    .requiredOption('--operator <operator>', 'op_… handle or uuid')
    .addOption(
      new Option('--environment <environment>').choices(['TEST', 'LIVE'] as const).default('LIVE' as const),
    )
}

/** The account and environment that the flags name. @throws UsageError for no operator's id */
export function accountOf(flags: { operator: string; environment: string }): {
  operatorId: string
  environment: 'SANDBOX' | 'LIVE'
} {
  const operatorId = operatorIdOf(flags.operator)
  if (operatorId === null) throw new UsageError('--operator must be an op_… handle or a uuid')
  return { operatorId, environment: flags.environment === 'LIVE' ? 'LIVE' : 'SANDBOX' }
}
