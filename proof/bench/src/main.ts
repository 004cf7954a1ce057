import { parseArgs } from 'node:util'
import { createCleanup } from './harness/cleanup.ts'
import { exitAfterOutput } from './harness/exit-after-output.ts'
import { writeResult } from './harness/write-result.ts'
import { benchmarks, usage } from './benchmarks.ts'
import { runCompare } from './compare/run-compare.ts'
import { type WorkloadName, workloads } from './compare/workloads.ts'

const { values, positionals } = readArguments()
const benchmark = benchmarks.find(({ name }) => name === positionals[0])
if (values.help || positionals.length === 0) {
  process.stdout.write(usage())
  process.exit(values.help ? 0 : 2)
}
if (benchmark === undefined || positionals.length > 1) fail(`there is no benchmark ${positionals.join(' ')}`)
const seconds = readNumber('seconds', values.seconds, 0.2, 60)
const pairs = readNumber('pairs', values.pairs, 1, 50)
const history = readNumber('history', values.history, 1000, 1_000_000)
const events = Math.round(readNumber('events', values.events, 1000, 1_000_000))
const deliveries = Math.round(readNumber('deliveries', values.deliveries, 2000, 2_000_000))
const pending = Math.round(readNumber('pending', values.pending, 100, 10_000))
const rounds = Math.round(readNumber('rounds', values.rounds, 1000, 1_000_000))
const unfinished = Math.round(readNumber('unfinished', values.unfinished, 0, 100_000))
const minutes = Math.round(readNumber('minutes', values.minutes, 1, 10_000))
const rate = readNumber('rate', values.rate, 1, 1000)
const callers = Math.round(readNumber('callers', values.callers, 1, 256))
const replicas = Math.round(readNumber('replicas', values.replicas, 1, 8))
const warm = readNumber('warm', values.warm, 0, 300)
const knownParts = benchmark.parts ?? []
if (values.part.some((name) => !knownParts.includes(name))) {
  const known =
    knownParts.length === 0 ? 'is not for this benchmark' : `must be one of ${knownParts.join(', ')}`
  fail(`--part ${known}`)
}

const options = {
  seconds,
  pairs: Math.round(pairs),
  history,
  parts: values.part,
  events,
  deliveries,
  pending,
  rounds,
  unfinished,
  account: values.account,
  minutes,
  rate,
  warm,
  base: values.base,
}
const { base } = values
const takesBase = base === undefined || benchmark.ownBase === true
const cleanup = createCleanup()
const say = (text: string) => process.stderr.write(`${text}\n`)
try {
  const { result, text } = takesBase
    ? await benchmark.run(options, cleanup, say)
    : await runCompare(
        {
          name: comparable(benchmark.name),
          ref: base,
          callers,
          replicas,
          turns: Math.max(10, options.pairs),
          durationMs: seconds * 1000,
        },
        cleanup,
        say,
      )
  const path = writeResult(base === undefined ? benchmark.name : `${benchmark.name}-base`, {
    seconds,
    callers,
    pairs,
    ...result,
  })
  process.stdout.write(`\n${benchmark.title}\n\n${text}\n\nwritten to ${path}\n`)
} finally {
  await cleanup.run()
}
exitAfterOutput(0)

function comparable(name: string): WorkloadName {
  if (isWorkload(name)) return name
  return fail(`--base is for ${Object.keys(workloads).join(', ')}`)
}

function isWorkload(name: string): name is WorkloadName {
  return Object.hasOwn(workloads, name)
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        seconds: { type: 'string', default: '3' },
        pairs: { type: 'string', default: '5' },
        base: { type: 'string' },
        callers: { type: 'string', default: '8' },
        replicas: { type: 'string', default: '1' },
        warm: { type: 'string', default: '60' },
        history: { type: 'string', default: '100000' },
        part: { type: 'string', multiple: true, default: [] },
        events: { type: 'string', default: '10000' },
        deliveries: { type: 'string', default: '20000' },
        pending: { type: 'string', default: '2000' },
        rounds: { type: 'string', default: '1000000' },
        unfinished: { type: 'string', default: '0' },
        account: { type: 'string' },
        minutes: { type: 'string', default: '60' },
        rate: { type: 'string', default: '100' },
      },
    })
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error))
  }
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (!(value >= least && value <= most)) fail(`--${name} must be a number from ${least} to ${most}`)
  return value
}

function fail(message: string): never {
  process.stderr.write(`${message}\n\n${usage()}`)
  process.exit(2)
}
