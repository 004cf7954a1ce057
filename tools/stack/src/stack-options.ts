import { resolve } from 'node:path'
import type { EventsBounds } from '@pitboss/bus/topology'
import {
  commonConfig,
  eventsBounds,
  eventsConfig,
  port as portNumber,
  storageConfig,
  timeScaleConfig,
  tokenTtlConfig,
  badConfigExitCode,
  ConfigError,
  endBadConfig,
  loadConfig,
} from '@pitboss/runtime/load-config'
import { Command, type CommanderError, InvalidArgumentError } from 'commander'
import { z } from 'zod'

export const serviceNames = ['auth', 'rounds', 'wallet-bridge', 'webhooks', 'gateway'] as const
export type ServiceName = (typeof serviceNames)[number]
/** The services with a database, each with master keys of its own. */
export const storedServices = serviceNames.filter((name) => name !== 'gateway')

export type StackOptions = {
  /** The gateway's port; 0 takes a free one. */
  port: number
  dataDir: string
  replicas: Readonly<Record<ServiceName, number>>
  demo: boolean
  fresh: boolean
  log: 'pretty' | 'json'
  /**
   * Whether the table of addresses and logins is printed: always, unless nothing but JSON lines is asked for.
   */
  table: boolean
  /** Whether TEST endpoints and wallets may be on this machine: unless told otherwise, outside production. */
  allowLoopback: { webhooks: boolean; wallets: boolean }
  /** How much the stream of events keeps. */
  events: EventsBounds
  logLevel: string
  /** What the names of the services' databases begin with. */
  databasePrefix: string
  /**
   * The folder with the entry files of services that a proof starts in another way; null for the product's
   * own.
   */
  entries: string | null
  /** Whether services are played from their images by podman. */
  images: boolean
}

const loopback = z.enum(['yes', 'no'], 'must be yes or no').optional()

/** Settings that the runner and several of its children read; each child checks the rest of its own. */
const environmentSchema = z.object({
  ...timeScaleConfig,
  ...tokenTtlConfig,
  NODE_ENV: commonConfig.NODE_ENV,
  NATS_URL: commonConfig.NATS_URL.optional(),
  MONGODB_URL: storageConfig.MONGODB_URL.optional(),
  PITBOSS_DATABASE_PREFIX: storageConfig.PITBOSS_DATABASE_PREFIX,
  PITBOSS_LOG_LEVEL: commonConfig.PITBOSS_LOG_LEVEL,
  ...eventsConfig,
  PITBOSS_DATA_DIR: z.string().default('.pitboss'),
  PITBOSS_SERVICE_ENTRIES: z.string().optional(),
  PITBOSS_ALLOW_LOOPBACK_WEBHOOKS: loopback,
  PITBOSS_ALLOW_LOOPBACK_WALLETS: loopback,
  PORT: portNumber.default(8080),
})

const replicasMax = 8
const oneOfEach: Readonly<Record<ServiceName, number>> = {
  auth: 1,
  rounds: 1,
  'wallet-bridge': 1,
  webhooks: 1,
  gateway: 1,
}
const noDemo = {
  variable: 'NODE_ENV',
  problem:
    'production refuses the loopback addresses of the demo wallets and receiver; add --no-demo (npm start -- --no-demo)',
}
const notInImages = {
  variable: 'PITBOSS_SERVICE_ENTRIES',
  problem: 'is for services that run from files; leave it or --images out',
}
const needsLoopback = (variable: string) => ({ variable, problem: 'the demo needs yes; or add --no-demo' })
const wrongUsageExitCode = 2

/**
 * Reads the flags of `npm start`; the environment gives defaults. Ends the process with exit code 78 on a bad
 * value, of a variable or a flag, and with 2 on any other wrong usage. Source: docs/contract.md, section 9.
 */
export function readStackOptions(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  isTerminal: boolean,
): StackOptions {
  const settings = loadConfig(environmentSchema, environment)
  const command = new Command('npm start --')
    .description('Runs the whole product on this machine, in the foreground.')
    .option('--port <number>', 'port of the gateway (environment: PORT)', parsePort, settings.PORT)
    .option(
      '--data-dir <folder>',
      'where state lives (environment: PITBOSS_DATA_DIR)',
      settings.PITBOSS_DATA_DIR,
    )
    .option('--replicas <list>', 'several of a service, e.g. gateway=2,rounds=2', parseReplicas, oneOfEach)
    .option('--no-demo', 'start without demo operator, wallet and receiver')
    .option('--fresh', 'drop the state of earlier runs first', false)
    .option('--images', 'play the services from their images, by podman', false)
    .option('--log <format>', 'pretty or json', parseLog, isTerminal ? 'pretty' : 'json')
    .exitOverride((error) => process.exit(exitCodeOf(error)))
    .parse([...argv], { from: 'user' })
  const { port, dataDir, replicas, demo, fresh, log, images } = command.opts()
  if (images && settings.PITBOSS_SERVICE_ENTRIES !== undefined) endBadConfig(new ConfigError([notInImages]))
  if (demo && settings.NODE_ENV === 'production') endBadConfig(new ConfigError([noDemo]))
  const table = log === 'pretty' || command.getOptionValueSource('log') !== 'cli'
  const unlessTold = settings.NODE_ENV === 'production' ? 'no' : 'yes'
  const webhooks = (settings.PITBOSS_ALLOW_LOOPBACK_WEBHOOKS ?? unlessTold) === 'yes'
  const wallets = (settings.PITBOSS_ALLOW_LOOPBACK_WALLETS ?? unlessTold) === 'yes'
  if (demo && !webhooks) endBadConfig(new ConfigError([needsLoopback('PITBOSS_ALLOW_LOOPBACK_WEBHOOKS')]))
  if (demo && !wallets) endBadConfig(new ConfigError([needsLoopback('PITBOSS_ALLOW_LOOPBACK_WALLETS')]))
  return {
    ...{ port, dataDir: resolve(dataDir), replicas, demo, fresh, log, table, images },
    allowLoopback: { webhooks, wallets },
    events: eventsBounds(settings),
    logLevel: settings.PITBOSS_LOG_LEVEL,
    databasePrefix: settings.PITBOSS_DATABASE_PREFIX,
    entries: settings.PITBOSS_SERVICE_ENTRIES ?? null,
  }
}

function exitCodeOf({ exitCode, code }: CommanderError): number {
  if (exitCode === 0) return 0
  return code === 'commander.invalidArgument' ? badConfigExitCode : wrongUsageExitCode
}

function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('It must be a port from 0 to 65535.')
  return Number(text)
}

function parseLog(text: string): 'pretty' | 'json' {
  if (text !== 'pretty' && text !== 'json') throw new InvalidArgumentError('It must be pretty or json.')
  return text
}

function parseReplicas(text: string): Record<ServiceName, number> {
  const counts: Record<ServiceName, number> = { ...oneOfEach }
  const named = new Set<ServiceName>()
  for (const part of text.split(',')) {
    const [name = '', ...counted] = part.split('=')
    const count = counted.join('=')
    const service = serviceNames.find((each) => each === name)
    if (service === undefined || !/^[1-9]$/.test(count) || Number(count) > replicasMax) {
      throw new InvalidArgumentError(
        `"${part}" must be one of ${serviceNames.join(', ')}, "=" and 1 to ${replicasMax}.`,
      )
    }
    if (named.has(service)) throw new InvalidArgumentError(`The service ${service} is named twice.`)
    named.add(service)
    counts[service] = Number(count)
  }
  return counts
}
