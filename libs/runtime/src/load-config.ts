import { z } from 'zod'

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

/** Settings that production refuses: each makes tests possible and an operator's money less safe. */
const refusedInProduction: readonly { variable: string; harmless: readonly string[] }[] = [
  { variable: 'PITBOSS_TIME_SCALE', harmless: ['1'] },
  { variable: 'PITBOSS_ALLOW_LOOPBACK_WEBHOOKS', harmless: ['no'] },
  { variable: 'PITBOSS_ALLOW_LOOPBACK_WALLETS', harmless: ['no'] },
  { variable: 'PITBOSS_FAILPOINTS', harmless: [] },
  { variable: 'PITBOSS_SERVICE_ENTRIES', harmless: [] },
]

/** Parses the environment; an empty variable counts as unset. @throws ConfigError */
export function parseConfig<Config>(schema: z.ZodType<Config>, environment: Environment): Config {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, text]) => text !== undefined && text !== ''),
  )
  const refused = given.NODE_ENV === 'production' ? refusedVariables(given) : []
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

function refusedVariables(given: Environment) {
  return refusedInProduction
    .filter(({ variable, harmless }) => {
      const text = given[variable]
      return text !== undefined && !harmless.includes(text)
    })
    .map(({ variable }) => ({ variable, problem: 'is refused when NODE_ENV=production' }))
}
