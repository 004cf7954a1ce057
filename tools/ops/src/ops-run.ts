import { shown } from '@pitboss/contracts/acting-characters'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { confirm, isCancel } from '@clack/prompts'
import { type Bus, connectBus } from '@pitboss/bus/connect-bus'
import { opsAppendAudit } from '@pitboss/contracts/calls/auth-ops'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Command } from 'commander'
import pino from 'pino'
import { z } from 'zod'
import { createProgress, encoded, type Progress, toProcess } from './output.ts'
import { readPerson, readReason } from './read-flags.ts'
import { UsageError } from './failures.ts'

const connection = z.looseObject({
  nats_url: z.string(),
  nats_nkey_seed: z.string().optional(),
  mongodb_url: z.string().optional(),
  database_prefix: z.string().optional(),
})
const common = z.looseObject({
  json: z.boolean().default(false),
  dataDir: z.string().optional(),
  yes: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  reason: z.string().optional(),
  by: z.string().optional(),
})

type Order = { by: string; reason: string | null; dryRun: boolean }

/** The parts that a verb works with. */
export type OpsRun = {
  bus: Bus
  /** Where the services' databases are; null where nothing says so. No verb connects to it itself. */
  database: { url: string; prefix: string } | null
  json: boolean
  order: Order
  /** The result: one JSON value with `--json`, else the text. */
  show(value: unknown, text: string): void
  /** A result that is neither JSON nor text for people. */
  print(text: string): void
  /** A remark, on stderr. */
  note(text: string): void
  /** Shows on stderr how `work` gets on, of `total` steps if that is known. */
  follow<Result>(total: number | null, work: (progress: Progress) => Promise<Result>): Promise<Result>
  /**
   * Asks on a terminal unless `--yes`; does nothing in a dry run.
   * @throws ServiceError CONFLICT when the person says no.
   */
  confirm(question: string): Promise<void>
  /**
   * Records what the command is about to do to NATS itself, unless it is a dry run. What a service changes,
   * it records itself.
   */
  audit(what: string, target: string | null, details: Record<string, unknown>): Promise<void>
}

/** Adds the flags of every verb. */
export function withCommonFlags(command: Command): Command {
  return command
    .option('--json', 'print exactly one JSON value')
    .option('--data-dir <folder>', 'data folder of the stack on this machine')
}

/** Adds the flags of a verb that changes something. */
export function withChangeFlags(command: Command): Command {
  return withOrderFlags(withCommonFlags(command))
    .option('--dry-run', 'say what would happen and change nothing')
    .option('--yes', 'do not ask')
}

/** Adds the flags that say who gives an order and why: both go into the audit log. */
export function withOrderFlags(command: Command): Command {
  return command
    .option('--reason <text>', 'why; goes into the audit log', readReason)
    .option('--by <person>', 'who gives the order; PITBOSS_OPS_BY unless given', readPerson)
}

/**
 * Refuses a verb without `--reason` as wrong usage, before anything is connected. `when` may spare some uses
 * of it.
 */
export function needsReason<Verb extends Command>(
  command: Verb,
  when: (flags: Readonly<Record<string, unknown>>) => boolean = () => true,
): Verb {
  command.hook('preAction', (_hooked, verb) => {
    const flags = verb.opts()
    if (when(flags) && common.parse(flags).reason === undefined)
      throw new UsageError('--reason is needed: it goes into the audit log')
  })
  return command
}

type Given = Parameters<Parameters<Command['action']>[0]>

/** Makes `work` the action of a verb; it gets the verb's arguments and flags beside the run. */
export function onRun(command: Command, work: (run: OpsRun, ...given: Given) => Promise<void>): void {
  command.action((...given) => runOps(command, (run) => work(run, ...given)))
}

/** Connects with the rights of the ops user, runs `work` and hangs up. */
export async function runOps(command: Command, work: (run: OpsRun) => Promise<void>): Promise<void> {
  const { json, dataDir, yes, dryRun, reason, by } = common.parse(command.opts())
  const isOrder = !dryRun && command.options.some(({ long }) => long === '--by')
  const order = { by: by ?? personOf(process.env, isOrder), reason: reason ?? null, dryRun }
  const found = findConnection(dataDir)
  const { nats_url: url, nats_nkey_seed: nkeySeed, mongodb_url: databaseUrl } = found
  const logger = pino({ level: 'error' }, pino.destination(2))
  const bus = await connectBus({ url, nkeySeed, service: 'ops', logger, patient: false }).catch(
    (cause: unknown) => {
      throw new ServiceError('SERVICE_UNAVAILABLE', {
        message:
          'NATS does not answer. Is the stack running? Start it (npm start), or name its folder with --data-dir.',
        cause,
      })
    },
  )
  const { writeOut = toProcess.stdout, writeErr = toProcess.stderr } = command.configureOutput()
  try {
    await work({
      bus,
      database:
        databaseUrl === undefined ? null : { url: databaseUrl, prefix: found.database_prefix ?? 'pitboss' },
      json,
      order,
      ...encoded({ stdout: writeOut, stderr: writeErr }, json),
      print: writeOut,
      async follow(total, work) {
        const progress = createProgress(total, { write: writeErr, isTTY: process.stderr.isTTY })
        try {
          return await work(progress)
        } finally {
          progress.end()
        }
      },
      async confirm(question) {
        if (dryRun || yes || process.stdin.isTTY !== true || process.stderr.isTTY !== true) return
        // On stderr: stdout holds the result alone.
        const answer = await confirm({ message: shown(question), output: process.stderr })
        if (isCancel(answer) || !answer)
          throw new ServiceError('CONFLICT', { message: 'Nothing was changed.' })
      },
      async audit(what, target, details) {
        if (!dryRun)
          await bus.call(opsAppendAudit, { by: order.by, what, target, reason: order.reason, details })
      },
    })
  } finally {
    await bus.close()
  }
}

/**
 * Name of who gives the order, where no flag says it: on a machine of one's own that is its user. A container
 * may run under a number that has no name.
 * @throws UsageError for an order in production, which names a person itself
 */
function personOf({ PITBOSS_OPS_BY, NODE_ENV }: NodeJS.ProcessEnv, isOrder: boolean): string {
  if (PITBOSS_OPS_BY !== undefined && PITBOSS_OPS_BY !== '') return readPerson(PITBOSS_OPS_BY)
  if (isOrder && NODE_ENV === 'production')
    throw new UsageError('--by, or PITBOSS_OPS_BY, is needed: the audit log names who gives an order')
  try {
    return userInfo().username
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}

/** `NATS_URL` and `NATS_NKEY_SEED` (in an image), else what the stack of the data folder wrote down. */
function findConnection(dataDir: string | undefined): z.infer<typeof connection> {
  const { NATS_URL, PITBOSS_DATA_DIR } = process.env
  if (dataDir === undefined && NATS_URL !== undefined && NATS_URL !== '') {
    const given = {
      nats_url: NATS_URL,
      nats_nkey_seed: process.env.NATS_NKEY_SEED,
      mongodb_url: process.env.MONGODB_URL,
      database_prefix: process.env.PITBOSS_DATABASE_PREFIX,
    }
    return connection.parse(
      Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined && text !== '')),
    )
  }
  const path = join(dataDir ?? PITBOSS_DATA_DIR ?? '.pitboss', 'connection.json')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    throw new UsageError(
      `${path} cannot be read. Start the stack (npm start), name its folder with --data-dir, or set NATS_URL and NATS_NKEY_SEED.`,
    )
  }
  try {
    return connection.parse(JSON.parse(text))
  } catch {
    throw new UsageError(`${path} does not say where NATS is; "npm start" writes it anew.`)
  }
}
