import { Command, CommanderError } from 'commander'
import { auditCommands, keyCommands, platformCommands } from './commands/platform-commands.ts'
import { consumerCommands, parkedCommands } from './commands/consumer-commands.ts'
import { deliveryCommands } from './commands/delivery-commands.ts'
import { doctorCommand } from './commands/doctor-command.ts'
import { eventCommands } from './commands/event-commands.ts'
import { movementCommands } from './commands/movement-commands.ts'
import { operatorCommands, userCommands } from './commands/operator-commands.ts'
import { playerCommands } from './commands/player-commands.ts'
import { roundCommands } from './commands/round-commands.ts'
import { rtpCommands } from './commands/rtp-commands.ts'
import { sealCommands } from './commands/seal-commands.ts'
import { statusCommand } from './commands/status-command.ts'
import { topologyCommands } from './commands/topology-commands.ts'
import { reportFailure } from './failures.ts'

const program = new Command('pitboss-ops').description(
  'Operates a running Pitboss over NATS. Exit 0 done, 1 refused or failed, 2 wrong usage.',
)
for (const add of [
  operatorCommands,
  userCommands,
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
]) {
  add(program)
}
for (const command of [program, ...program.commands, ...program.commands.flatMap((noun) => noun.commands)])
  command.exitOverride()

try {
  await program.parseAsync(process.argv)
  process.exitCode = 0
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2
  else process.exitCode = reportFailure(error)
}
