import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Bug, bugs as allBugs, foundByChaos, isBug } from '@pitboss/bugs/bugs'
import { isBroken, renderReport, summaryOf } from './render-report.ts'
import { fullLoad, healWithinMs, runChaos } from './run-chaos.ts'
import { type Restorable, restorable } from './faults/restored-database.ts'
import { allCaught, renderCatches, runBugs } from './run-bugs.ts'
import { createCleanup } from '@pitboss/bench/harness/cleanup'
import { exitAfterOutput } from '@pitboss/bench/harness/exit-after-output'
import { temporaryFolder } from '@pitboss/bench/harness/temporary-folder'
import { keepResult } from '@pitboss/bench/harness/keep-result'
import { writeResult } from '@pitboss/bench/harness/write-result'

const widest = Math.max(...Object.keys(allBugs).map((name) => name.length))
const usage = `Usage: npm run --silent chaos -- [--seconds S] [--seed N] [--replicas LIST] [--time-scale N] [--no-faults]
                                    [--full-disk] [--lose-stream] [--restore-database [NAME]]
                                    [--keep FOLDER] [--result FILE]
       npm run --silent chaos -- --bugs all|NAME,... [--seed N] [--keep FOLDER]

  --seconds S       how long faults rain (default 60)
  --seed N          decides clients and faults (default 1); timing stays the machine's
  --replicas LIST   as for npm start, e.g. rounds=2,wallet-bridge=2 (default: two of every service but auth)
  --time-scale N    divides the delays of schedules (default 120)
  --no-faults       load alone
  --full-disk       the broker's disk is full for some seconds now and then (Linux, as root)
  --lose-stream     the broker's disk is taken back to a copy of some seconds ago now and then
  --restore-database NAME
                    databases are set back by some seconds, once, and healed as the runbook says: rounds (default),
                    wallet-bridge, webhooks or rounds+wallet-bridge; a run of 300 s or more does so by draw, one in four
  --result FILE     writes the result there, with the commit it belongs to
  --bugs L          shows that the checker can fail: the product errs in one known way after the other, each for up to 120 s
  --keep FOLDER     keeps the product's log and data there; those of a broken run are kept without being asked

Runs the product with all its processes, plays and settles against a wallet with faults, kills and pauses processes, then lets it heal
and compares what clients were told, the wallet's ledger and calls, the final reads and the events. Exit code 1 when an invariant does
not hold, or when a deliberate bug is not caught.

Deliberate bugs:
${Object.entries(allBugs)
  .map(([name, what]) => `  ${name.padEnd(widest)}  ${what}`)
  .join('\n')}
`

const options = readOptions()
const cleanup = createCleanup()
const say = (text: string) => process.stderr.write(`${text}\n`)
let broken = true
let isKept = false
try {
  const folder = options.keep ?? temporaryFolder('chaos', cleanup, () => isKept)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  broken = options.bugs.length > 0 ? await errOnPurpose(folder) : await storm(folder)
} finally {
  isKept = broken
  await cleanup.run()
}
exitAfterOutput(broken ? 1 : 0)

async function storm(folder: string): Promise<boolean> {
  const { seconds, seed, replicas, timeScale, faults, broker, restoreDatabase } = options
  const report = await runChaos(
    {
      ...{ seconds, seed, replicas, timeScale, faults, broker, healWithinMs },
      ...{ restore: restoreDatabase, load: fullLoad, environment: {} },
    },
    folder,
    cleanup,
    say,
  )
  process.stdout.write(renderReport(report))
  say(`written to ${writeResult('chaos', report)}`)
  if (options.result !== undefined)
    keepResult(options.result, summaryOf(report, { replicas, time_scale: timeScale }))
  return isBroken(report)
}

async function errOnPurpose(folder: string): Promise<boolean> {
  const { bugs, seed } = options
  const catches = await runBugs({ bugs, seed, folder, cleanup, say })
  process.stdout.write(`${renderCatches(catches)}\n`)
  say(`written to ${writeResult('bugs', { seed, catches })}`)
  return !allCaught(catches)
}

function readOptions() {
  try {
    const { values } = parseArgs({
      args: withRestoreNamed(process.argv.slice(2)),
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        seconds: { type: 'string', default: '60' },
        seed: { type: 'string', default: '1' },
        replicas: { type: 'string', default: 'gateway=2,rounds=2,wallet-bridge=2,webhooks=2' },
        'time-scale': { type: 'string', default: '120' },
        'full-disk': { type: 'boolean', default: false },
        'lose-stream': { type: 'boolean', default: false },
        'restore-database': { type: 'string' },
        result: { type: 'string' },
        'no-faults': { type: 'boolean', default: false },
        bugs: { type: 'string' },
        keep: { type: 'string' },
      },
    })
    if (values.help) {
      process.stdout.write(usage)
      process.exit(0)
    }
    return {
      seconds: whole('seconds', values.seconds, 1, 86_400),
      seed: whole('seed', values.seed, 0, 2 ** 32 - 1),
      replicas: values.replicas,
      timeScale: whole('time-scale', values['time-scale'], 1, 100_000),
      faults: !values['no-faults'],
      broker: { fullDisk: values['full-disk'], lostStream: values['lose-stream'] },
      restoreDatabase: restorableNamed(values['restore-database']),
      bugs: bugsNamed(values.bugs ?? ''),
      ...(values.keep === undefined ? {} : { keep: values.keep }),
      ...(values.result === undefined ? {} : { result: values.result }),
    }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(2)
  }
}

/** `--restore-database` alone is that of rounds. */
function withRestoreNamed(args: readonly string[]): string[] {
  return args.flatMap((arg, index) => {
    const isBare = arg === '--restore-database' && (args[index + 1] ?? '--').startsWith('--')
    return isBare ? [arg, 'rounds'] : [arg]
  })
}

function restorableNamed(name: string | undefined): Restorable | null {
  if (name === undefined) return null
  const found = Object.keys(restorable).find((one) => one === name)
  if (found === undefined) throw new Error(`--restore-database: there is no ${name}`)
  return found as Restorable
}

function bugsNamed(text: string): Bug[] {
  const names = text === 'all' ? foundByChaos : text.split(',').filter((name) => name !== '')
  return names.map((name) => {
    if (!isBug(name)) throw new Error(`--bugs: there is no ${name}`)
    return name
  })
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new Error(`--${name} must be a whole number from ${least} to ${most}`)
  }
  return value
}
