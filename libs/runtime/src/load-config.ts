import { z } from 'zod'
import { productionProblems } from './production-rules.ts'

/** The exit code of a bad configuration (`EX_CONFIG`). docs/contract.md, section 9. */
export const badConfigExitCode = 78

/** A configuration that cannot be used; the message names each variable and never repeats a value. */
export class ConfigError extends Error {
  readonly variables: readonly string[]

  constructor(problems: readonly { variable: string; problem: string }[]) {
    super(problems.map(({ variable, problem }) => `${variable}: ${problem}`).join('\n'))
    this.name = 'ConfigError'
    this.variables = problems.map(({ variable }) => variable)
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Parses the environment; an empty variable counts as unset. @throws ConfigError */
export function parseConfig<Config>(schema: z.ZodType<Config>, environment: Environment): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, text]) => text !== undefined && text !== ''),
  )
  const refused = given.NODE_ENV === 'production' ? productionProblems(given) : []
  const parsed = schema.safeParse(given)
  const invalid = parsed.success
    ? []
    : parsed.error.issues.map(({ path, message }) => describe(path, message, given))
  if (!parsed.success || refused.length > 0) throw new ConfigError([...invalid, ...refused])
  return parsed.data
}

/** As `parseConfig` over the process's environment; a bad value ends the process with exit code 78. */
export function loadConfig<Config>(
  schema: z.ZodType<Config>,
  environment: Environment = process.env,
): Config {
  try {
    return parseConfig(schema, environment)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return endBadConfig(error)
  }
}

/** Prints the faults of the configuration and ends the process with exit code 78. */
export function endBadConfig(error: ConfigError): never {
  process.stderr.write(`Bad configuration.\n${error.message}\n`)
  process.exit(badConfigExitCode)
}

function describe(path: readonly PropertyKey[], message: string, given: Environment) {
  const variable = String(path[0] ?? 'configuration')
  return { variable, problem: given[variable] === undefined ? 'is missing' : message }
}

/** Pieces of configuration, of which each service composes its schema. docs/contract.md, section 9. */

const number = (schema: z.ZodNumber) =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, 'must be a number')
    .transform(Number)
    .pipe(schema)

const flag = z
  .enum(['yes', 'no'], 'must be yes or no')
  .default('no')
  .transform((text) => text === 'yes')

const url = (protocols: readonly string[], example: string) =>
  z.string().refine((text) => protocols.some((protocol) => text.startsWith(`${protocol}://`)), {
    error: `must look like ${example}`,
  })

/** A whole number in decimal digits, from `least` to `most`. */
export const whole = (least: number, most: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`)

export const port = number(z.number().int().min(0).max(65_535))

/** Every service has these. */
export const commonConfig = {
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development'),
  NATS_URL: url(['nats', 'tls'], 'nats://user:password@host:4222'),
  /** `yes`: the network itself encrypts, so that production takes plain connections to NATS and MongoDB. */
  PITBOSS_ENCRYPTED_NETWORK: z.enum(['yes', 'no'], 'must be yes or no').optional(),
  NATS_NKEY_SEED: z.string().startsWith('SU', 'must be the seed of a user nkey').optional(),
  PITBOSS_PROBE_PORT: port.default(0),
  /** The address on which probes are answered; by default only this machine reaches it. */
  PITBOSS_PROBE_HOST: z.string().min(1).default('127.0.0.1'),
  /**
   * The place of this process. One process runs there at a time: the next one starts after the end of the
   * one before, so its start proves that end.
   */
  PITBOSS_SLOT: z
    .string()
    .regex(/^[A-Za-z0-9_.:-]{8,128}$/, 'must be 8 to 128 of A-Z a-z 0-9 _ . : -')
    .optional(),
  PITBOSS_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
} as const

/** Services with a database. */
export const storageConfig = {
  MONGODB_URL: url(['mongodb', 'mongodb+srv'], 'mongodb://host:27017/?replicaSet=rs0'),
  PITBOSS_DATABASE_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,30}$/, 'must be up to 31 of a-z 0-9 _')
    .default('pitboss'),
} as const

/** Who makes the stream of events. */
export const eventsConfig = {
  /** Megabytes (2^20 bytes) that the stream may hold; a full one refuses new play. */
  PITBOSS_EVENTS_MAX_MB: whole(1, 100_000_000).default(4096),
  /** Hours for which an event stays in the stream, for rewinds; unless told the days. */
  PITBOSS_EVENTS_HOURS: whole(1, 87_600).optional(),
  /** The same in days. */
  PITBOSS_EVENTS_DAYS: whole(1, 3650).default(30),
} as const

/** How much the stream of events keeps, of a checked configuration. */
export function eventsBounds({
  PITBOSS_EVENTS_MAX_MB: megabytes,
  PITBOSS_EVENTS_HOURS: hours,
  PITBOSS_EVENTS_DAYS: days,
}: z.infer<z.ZodObject<typeof eventsConfig>>): { maxBytes: number; hours: number } {
  return { maxBytes: megabytes * 2 ** 20, hours: hours ?? days * 24 }
}

/** Services that answer calls of the gateway. `accept` is for the time of an upgrade alone. */
const callTokensConfig = {
  PITBOSS_CALL_TOKENS: z.enum(['require', 'accept'], 'must be require or accept').default('require'),
} as const

/** Raw text; `parseKeyring` of `@pitboss/storage/keyring` reads it. */
export const masterKeysConfig = {
  PITBOSS_MASTER_KEYS: z
    .string()
    .regex(
      /^[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/]{43}=(,[A-Za-z0-9_-]{1,32}:[A-Za-z0-9+/]{43}=)*$/,
      'must be kid:base64(32 bytes), comma separated',
    ),
} as const

export const timeScaleConfig = {
  PITBOSS_TIME_SCALE: number(z.number().min(1).max(100_000)).default(1),
} as const

/** Of every service with a database. */
export const serviceConfig = {
  ...{ ...commonConfig, ...callTokensConfig, ...storageConfig, ...masterKeysConfig, ...timeScaleConfig },
} as const

/** An instant, where one is set. */
export const instant = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 time' })
  .transform((text) => new Date(text))
  .optional()

export const loopbackWebhooksConfig = { PITBOSS_ALLOW_LOOPBACK_WEBHOOKS: flag } as const
export const loopbackWalletsConfig = { PITBOSS_ALLOW_LOOPBACK_WALLETS: flag } as const

export const tokenTtlConfig = {
  PITBOSS_TOKEN_TTL_S: number(z.number().int().min(60).max(86_400)).default(3600),
} as const

/** The address under which operators and players reach the gateway, without a slash at the end. */
export const baseUrlConfig = {
  PITBOSS_BASE_URL: url(['http', 'https'], 'https://play.example.com').transform((text) =>
    text.replace(/\/+$/, ''),
  ),
} as const
