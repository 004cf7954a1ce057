import { Command, CommanderError } from 'commander'
import { auditCommands, keyCommands, platformCommands } from './commands/platform-commands.ts'
import { consumerCommands, parkedCommands } from './commands/consumer-commands.ts'
import { deliveryCommands } from './commands/delivery-commands.ts'
import { doctorCommand } from './commands/doctor-command.ts'
import { eventCommands } from './commands/event-commands.ts'
import { indexCommands } from './commands/index-commands.ts'
import { movementCommands } from './commands/movement-commands.ts'
import { approvalCommands, operatorCommands, userCommands } from './commands/operator-commands.ts'
import { playerCommands } from './commands/player-commands.ts'
import { roundCommands } from './commands/round-commands.ts'
import { rtpCommands } from './commands/rtp-commands.ts'
import { sealCommands } from './commands/seal-commands.ts'
import { statusCommand } from './commands/status-command.ts'
import { topologyCommands } from './commands/topology-commands.ts'
import { reportFailure } from './failures.ts'
import { type Print, toProcess } from './output.ts'

const groups = [
  operatorCommands,
  userCommands,
  approvalCommands,
  platformCommands,
  keyCommands,
  sealCommands,
  consumerCommands,
  parkedCommands,
  deliveryCommands,
  eventCommands,
  movementCommands,
  roundCommands,
  playerCommands,
  rtpCommands,
  auditCommands,
  statusCommand,
  doctorCommand,
  topologyCommands,
  indexCommands,
]

/**
 * Runs one command. @param args without the program's name
 * @returns the exit code: 0 done, 1 refused or failed, 2 wrong usage. Source: docs/contract.md, section 10
 */
export async function ops(args: readonly string[], print: Print = toProcess): Promise<number> {
  const program = new Command('pitboss-ops')
    .description('Operates a running Pitboss over NATS. Exit 0 done, 1 refused or failed, 2 wrong usage.')
    .configureOutput({ writeOut: print.stdout, writeErr: print.stderr })
  for (const add of groups) add(program)
  for (const command of [program, ...program.commands, ...program.commands.flatMap((noun) => noun.commands)])
    command.exitOverride()
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return reportFailure(error, print.stderr)
  }
}
