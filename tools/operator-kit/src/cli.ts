#!/usr/bin/env node
import { shown } from '@pitboss/contracts/acting-characters'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { certifyReceiver } from './certify/certify-receiver.ts'
import { certifyWallet } from './certify/certify-wallet.ts'
import { reportCertification } from './commands/certification-output.ts'
import { listenCommand } from './commands/listen-command.ts'
import { type ReconcileOptions, reconcileCommand } from './commands/reconcile-command.ts'
import { type ReturnsOptions, returnsCommand } from './commands/returns-command.ts'
import { verifyCommand } from './commands/verify-command.ts'

/** Apart from what 1 means to the commands: a wallet that is not certified, a round that is not valid. */
const wrongUsageExitCode = 2

const program = new Command('pitboss')
  .description(
    'Tools for operators: verify rounds, certify your wallet and webhook receiver, listen to events.',
  )
  .showHelpAfterError()

program
  .command('verify')
  .description('verify a finished round from itself alone; exit code 0 valid, 1 not valid, 2 unreadable')
  .argument('<file>', 'JSON of a round or a round.completed event, "-" for standard input')
  .option('--json', 'print the checks as JSON', false)
  .action(async (file: string, options: { json: boolean }) => {
    process.exitCode = await verifyCommand(file, options)
  })

program
  .command('certify-wallet')
  .description('run every case of the wallet contract against your wallet; exit code 0 certified, 1 not')
  .requiredOption('--url <url>', 'base address of the wallet, without /debit', httpUrl)
  .requiredOption('--secret <secret>', 'signing secret of the wallet')
  .option('--player <id>', 'test player who owns at least 100 units', 'certification')
  .option('--currency <code>', 'currency of that player', 'USD')
  .option('--blocked-player <id>', 'a player who may not play')
  .option('--unknown-player <id>', 'a player who does not exist')
  .option('--timeout-ms <ms>', 'time-out of each call', wholeNumber, 5000)
  .option('--json', 'print the report as JSON', false)
  .option('--junit <file>', 'write the report as JUnit XML too')
  .action(async (options: WalletArguments) => {
    const { url, secret, currency, timeoutMs, blockedPlayer = null, unknownPlayer = null } = options
    const wallet = { url, secret, currency, timeoutMs, playerId: options.player }
    const players = { blockedPlayerId: blockedPlayer, unknownPlayerId: unknownPlayer }
    process.exitCode = await reportCertification(options, (onResult) =>
      certifyWallet({ ...wallet, ...players }, onResult),
    )
  })

program
  .command('certify-receiver')
  .description('run every case of the webhook contract against your receiver; exit code 0 certified, 1 not')
  .requiredOption('--url <url>', 'address of the receiver', httpUrl)
  .requiredOption('--secret <secret>', 'signing secret of the endpoint, whsec_ included')
  .option('--json', 'print the report as JSON', false)
  .option('--junit <file>', 'write the report as JUnit XML too')
  .action(async (options: { url: string; secret: string; json: boolean; junit?: string }) => {
    process.exitCode = await reportCertification(options, (onResult) => certifyReceiver(options, onResult))
  })

program
  .command('listen')
  .description('receive events on this machine, print and verify them, and forward them to your receiver')
  .requiredOption('--secret <secret...>', 'signing secret of the endpoint; several during a rotation')
  .option('--port <port>', 'port on 127.0.0.1, 0 for a free one', portNumber, 4040)
  .option('--forward-to <url>', 'your receiver; gets the exact bytes and headers', httpUrl)
  .option('--save <folder>', 'keep what verifies in events.jsonl of this folder, for `pitboss reconcile`')
  .option('--json', 'print JSON lines', false)
  .action(async (options: ListenArguments) => {
    const { secret, port, forwardTo = null, save = null, json } = options
    process.exitCode = await listenCommand({ secrets: secret, port, forwardTo, saveTo: save, json })
  })

program
  .command('reconcile')
  .description(
    'compare the events that you have with the signed manifest; exit code 0 complete, 1 not, 2 could not be found out',
  )
  .requiredOption('--api-url <url>', 'base address of the service', httpUrl)
  .requiredOption('--key <api_key>', 'an API key of the environment in question')
  .addOption(
    new Option('--secret <api_secret>', 'its secret').env('PITBOSS_API_SECRET').makeOptionMandatory(),
  )
  .requiredOption('--from <time>', 'first created_at, ISO 8601', instant)
  .option('--to <time>', 'last created_at, ISO 8601; now unless given', instant, new Date().toISOString())
  .requiredOption(
    '--events <path>',
    'your events: JSON lines, CSV, or a folder that `pitboss listen --save` wrote',
  )
  .option('--json', 'print the comparison as JSON', false)
  .action(async (options: ReconcileOptions) => {
    process.exitCode = await reconcileCommand(options)
  })

program
  .command('returns')
  .description(
    'judge the returns to players and the draws of your finished rounds; exit code 0 nothing is wrong, 1 an alarm',
  )
  .requiredOption(
    '--events <path>',
    'events or rounds as JSON lines, or a folder that `pitboss listen --save` wrote',
  )
  .option('--svg <file>', 'draw the bands of the bets with most rounds')
  .option('--json', 'print the report as JSON', false)
  .action(async (options: ReturnsOptions) => {
    process.exitCode = await returnsCommand(options)
  })

for (const command of [program, ...program.commands]) command.exitOverride()
try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : wrongUsageExitCode
  else if (error instanceof Error && 'code' in error && 'syscall' in error) {
    // A file that cannot be written, a port that is taken.
    process.stderr.write(`error: ${shown(error.message)}\n`)
    process.exitCode = wrongUsageExitCode
  } else throw error
}

type ListenArguments = {
  secret: string[]
  port: number
  forwardTo?: string
  save?: string
  json: boolean
}

type WalletArguments = {
  url: string
  secret: string
  player: string
  currency: string
  blockedPlayer?: string
  unknownPlayer?: string
  timeoutMs: number
  json: boolean
  junit?: string
}

function httpUrl(text: string): string {
  const protocol = URL.canParse(text) ? new URL(text).protocol : ''
  if (protocol === 'http:' || protocol === 'https:') return text
  throw new InvalidArgumentError('It must start with http:// or https://.')
}

function instant(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}T/.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text).toISOString()
  throw new InvalidArgumentError('It must be a time such as 2026-11-20T00:00:00Z.')
}

function portNumber(text: string): number {
  const port = wholeNumber(text)
  if (port > 65_535) throw new InvalidArgumentError('It must be a port from 0 to 65535.')
  return port
}

function wholeNumber(text: string): number {
  if (/^[0-9]{1,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}
