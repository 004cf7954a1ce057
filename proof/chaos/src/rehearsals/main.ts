import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createCleanup } from '@pitboss/bench/harness/cleanup'
import { exitAfterOutput } from '@pitboss/bench/harness/exit-after-output'
import { temporaryFolder } from '@pitboss/bench/harness/temporary-folder'
import type { Seen } from './clients-at-work.ts'
import { backup } from './backup.ts'
import { backupRounds } from './backup-rounds.ts'
import { brokerData, brokerDisk, brokerNode } from './broker-lost.ts'
import { clock } from './clock.ts'
import { databaseDisk } from './database-disk.ts'
import { brokerAway, databaseAway } from './engine-away.ts'
import type { Rehearsal, RehearsalOptions } from './rehearsal.ts'
import { olderData } from './older-data.ts'
import { rotation } from './rotation.ts'
import { scale } from './scale.ts'
import { upgrade } from './upgrade.ts'
import { versions } from './versions.ts'

const rehearsals = new Map<string, Rehearsal>([
  ['upgrade', upgrade],
  ['older-data', olderData],
  ['versions', versions],
  ['scale', scale],
  ['rotation', rotation],
  ['database-away', databaseAway],
  ['broker-away', brokerAway],
  ['broker-node', brokerNode],
  ['broker-data', brokerData],
  ['broker-disk', brokerDisk],
  ['database-disk', databaseDisk],
  ['backup', backup],
  ['backup-rounds', backupRounds],
  ['clock', clock],
])
const usage = `Usage: npm run --silent rehearse -- NAME [--keep FOLDER] [--from COMMIT]

${[...rehearsals].map(([name, { about }]) => `  ${name.padEnd(14)} ${about}`).join('\n')}
  --keep FOLDER  keeps the product's log and data there
  --from COMMIT  of upgrade, older-data and versions: the older build is that of this commit

Prints each step with what clients saw. Exit code 1 when a request failed that a client could not repeat, when a step
failed, or when the books do not balance.
`

const { rehearsal, keep, options } = readFlags()
const cleanup = createCleanup()
let failed = true
try {
  failed = await rehearse(keep ?? temporaryFolder('rehearsal', cleanup))
} catch (error) {
  process.stderr.write(`${whyOf(error)}\n`)
} finally {
  await cleanup.run()
}
exitAfterOutput(failed ? 1 : 0)

async function rehearse(folder: string): Promise<boolean> {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const { clients, steps } = await rehearsal.open(folder, cleanup, options)
  await clients.playOn()
  clients.look()
  for (const [index, step] of steps.entries()) {
    print(`${index + 1}. ${step.name}`)
    let problem: unknown = null
    let done: readonly string[] = []
    try {
      done = [await step.run()].flat()
      if (index < steps.length - 1 && step.playIsOff !== true) await clients.playOn()
    } catch (error) {
      problem = error
    }
    const seen = clients.look()
    for (const line of done) print(`   ${line}`)
    print(`   clients: ${textOf(seen)}`)
    for (const lost of seen.lost) print(`   LOST ${JSON.stringify(lost)}`)
    if (problem !== null) print(`   FAILED ${whyOf(problem)}`)
    if (problem !== null || seen.lost.length > 0) return true
  }
  print(rehearsal.success)
  return false
}

function textOf({ served, slowest, repeated, renewed, expected }: Seen): string {
  const parts = [
    `${served} served`,
    ...(slowest === null ? [] : [`the slowest after ${seconds(slowest.ms)} (${slowest.client})`]),
    ...[...repeated].map(([code, count]) => `${count} repeated (${code})`),
    ...(renewed === 0 ? [] : [`${renewed} got a token anew`]),
    ...[...expected].map(([code, count]) => `${count} refused as expected (${code})`),
  ]
  return parts.join(', ')
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 1000 ? 2 : 1)} s`
}

function whyOf(problem: unknown): string {
  if (!(problem instanceof Error)) return String(problem)
  return problem.cause === undefined ? problem.message : `${problem.message}: ${whyOf(problem.cause)}`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function readFlags(): { rehearsal: Rehearsal; keep: string | undefined; options: RehearsalOptions } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        keep: { type: 'string' },
        from: { type: 'string' },
      },
    })
    if (values.help) {
      process.stdout.write(usage)
      process.exit(0)
    }
    const [name = '', ...more] = positionals
    const named = rehearsals.get(name)
    if (named === undefined || more.length > 0)
      throw new Error(`name one rehearsal: ${[...rehearsals.keys()].join(', ')}`)
    const takesFrom = ['upgrade', 'older-data', 'versions'].includes(name)
    if (values.from !== undefined && !takesFrom)
      throw new Error('--from belongs to upgrade, older-data and versions')
    return { rehearsal: named, keep: values.keep, options: { from: values.from ?? null } }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(2)
  }
}
