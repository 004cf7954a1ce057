import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '@pitboss/errors/service-error'
import { badConfigExitCode } from '@pitboss/runtime/load-config'
import { type Command, Option } from 'commander'
import { z } from 'zod'
import { UsageError } from '../failures.ts'
import { type OpsRun, onRun, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'

const services = ['auth', 'rounds', 'wallet-bridge', 'webhooks'] as const
type Service = (typeof services)[number]

const rowSchema = z.object({
  service: z.string(),
  collection: z.string(),
  index: z.string(),
  state: z.string(),
  refused: z.boolean(),
  progress: z.number().nullable(),
  documents: z.number(),
  bytes: z.number(),
})
type Row = z.infer<typeof rowSchema>

/** A line of the log of a build that is under way. Source: libs/storage/src/ensure-indexes.ts. */
const buildingSchema = z.object({
  msg: z.literal('database.indexes-building'),
  collection: z.string(),
  indexes: z.array(z.string()),
  elapsed_s: z.number(),
  done: z.number().optional(),
  total: z.number().optional(),
})
const failedSchema = z.object({ err: z.looseObject({ message: z.string() }) })

/**
 * `indexes plan|apply`: the indexes that this build of the services wants, beside whatever build runs. Each
 * service's own program does it, in its own database. Source: docs/contract.md, section 10.
 */
export function indexCommands(program: Command): void {
  const noun = program.command('indexes').description('indexes of this build, before its services start')
  const oneService = () => new Option('--service <service>', 'of this service alone').choices(services)
  const plan = withCommonFlags(noun.command('plan').description('what is there, missing or being built'))
  onRun(plan.addOption(oneService()), async (run, { service }) => {
    show(run, await runAll(run, 'plan', service))
  })
  const apply = withChangeFlags(
    noun.command('apply').description('build what is missing, wait for what is being built; drops nothing'),
  )
  onRun(apply.addOption(oneService()), async (run, { service }) => {
    const planned = await runAll(run, 'plan', service)
    const wanted = planned.filter(({ state }) => state === 'missing' || state === 'building')
    if (run.order.dryRun || wanted.length === 0) return show(run, planned)
    await run.confirm(`Build ${wanted.length} indexes?`)
    const indexes = wanted.map((row) => `${row.service}.${row.collection}.${row.index}`)
    await run.audit('indexes.apply', service ?? null, { indexes }).catch((error: unknown) => {
      // The first time nobody is there to keep the record.
      if (!(error instanceof ServiceError) || error.code !== 'SERVICE_UNAVAILABLE') throw error
      run.note('auth does not run, so there is no audit record of this')
    })
    show(run, await runAll(run, 'apply', service))
  })
}

/** @throws ServiceError CONFLICT for an index at which a service would refuse to start */
function show(run: OpsRun, rows: readonly Row[]): void {
  const shown = rows.map(({ service, documents, bytes, ...row }) => ({
    ...{ service, collection: row.collection, index: row.index },
    state: row.progress === null ? row.state : `${row.state} ${Math.floor(row.progress * 100)}%`,
    documents,
    megabytes: Math.ceil(bytes / 2 ** 20),
  }))
  run.show(rows, textTable(shown))
  const refused = rows.filter((row) => row.refused).map(({ collection, index }) => `${collection}.${index}`)
  if (refused.length > 0)
    throw new ServiceError('CONFLICT', {
      message: `This build does not start beside ${refused.join(', ')}: drop it, or run the build that declares it.`,
    })
}

async function runAll(run: OpsRun, verb: 'plan' | 'apply', only: string | undefined): Promise<Row[]> {
  const asked = services.filter((service) => only === undefined || service === only)
  return run.follow(null, async (progress) => {
    const results = await Promise.all(
      asked.map((service) => runProgram(run, service, verb, (line) => progress.tell(0, line))),
    )
    return results.flat()
  })
}

/** Runs a service's program to its end. @throws ServiceError with what it said when it fails */
async function runProgram(
  { database }: OpsRun,
  service: Service,
  verb: 'plan' | 'apply',
  tell: (line: string) => void,
): Promise<Row[]> {
  const entry = fileURLToPath(new URL(`../../../../services/${service}/src/main.ts`, import.meta.url))
  if (!existsSync(entry))
    throw new UsageError(`${service} is not here: run "indexes ${verb}" of its own image (the Job indexes)`)
  if (database === null)
    throw new UsageError(
      'no database is named: set MONGODB_URL, or name the folder of a stack with --data-dir',
    )
  const child = spawn(process.execPath, ['--disable-sigusr1', entry, 'indexes', verb], {
    env: { ...process.env, MONGODB_URL: database.url, PITBOSS_DATABASE_PREFIX: database.prefix },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  const reading = (async () => {
    for await (const line of createInterface({ input: child.stderr })) said.push(...readLine(line, tell))
  })()
  const [out] = await Promise.all([text(child.stdout), reading, once(child, 'close')])
  const rows = out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => rowSchema.parse(JSON.parse(line)))
  if (child.exitCode === 0 || rows.some(({ refused }) => refused)) return rows
  const message = `${service}: ${said.slice(-5).join(' ') || `its program ended with ${child.exitCode ?? child.signalCode}`}`
  if (child.exitCode === badConfigExitCode) throw new UsageError(message)
  throw new ServiceError('SERVICE_UNAVAILABLE', { message })
}

/** Shows how a build gets on. @returns what the line says of a failure */
function readLine(line: string, tell: (line: string) => void): string[] {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return [line]
  }
  const building = buildingSchema.safeParse(value)
  if (building.success) {
    const { collection, indexes, elapsed_s, done, total } = building.data
    const far = done === undefined || total === undefined ? '' : `, ${done} of ${total}`
    tell(`${collection}: ${indexes.join(', ')}, for ${elapsed_s} s${far}`)
  }
  const failed = failedSchema.safeParse(value)
  return failed.success ? [failed.data.err.message] : []
}
