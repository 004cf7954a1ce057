import { operatorIdOf } from '@pitboss/contracts/primitives'
import { type Command, InvalidArgumentError, Option } from 'commander'

/** Adds the flags that name an account and an environment. */
export function withAccount(command: Command): Command {
  return command
    .requiredOption('--operator <operator>', 'op_… handle or uuid', readOperator)
    .addOption(
      new Option('--environment <environment>').choices(['TEST', 'LIVE'] as const).default('LIVE' as const),
    )
}

/** The account and environment that the flags name. */
export function accountOf(flags: { operator: string; environment: string }): {
  operatorId: string
  environment: 'SANDBOX' | 'LIVE'
} {
  return { operatorId: flags.operator, environment: flags.environment === 'LIVE' ? 'LIVE' : 'SANDBOX' }
}

/** Reads an operator's handle or uuid. @returns the uuid */
export function readOperator(text: string): string {
  const operatorId = operatorIdOf(text)
  if (operatorId === null) throw new InvalidArgumentError('It must be an op_… handle or a uuid.')
  return operatorId
}
