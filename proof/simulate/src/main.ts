import { parseArgs } from 'node:util'
import { isBug } from '@pitboss/bugs/bugs'
import { exitAfterOutput } from '@pitboss/bench/harness/exit-after-output'
import { keepResult } from '@pitboss/bench/harness/keep-result'
import { simulate } from './simulate.ts'

const seedsShown = 10
const usage = `Usage: npm run --silent simulate -- [--seeds N] [--from SEED] [--seed SEED] [--bug NAME] [--all] [--result FILE]

  --seeds N     how many runs (default 1000)
  --from SEED   the first seed (default 1)
  --seed SEED   this one alone, with its whole trace
  --all         goes on after a violation, and ends with the seeds of each kind
  --bug NAME    with a deliberate bug, see npm run chaos -- --help; the exit code is 0 when it is found

  --result FILE writes the result there, with the commit it belongs to

Runs the real rules and flow of rounds and wallet-bridge on virtual time with seeded faults: safety in every step, then liveness.
`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean', short: 'h', default: false },
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    all: { type: 'boolean', default: false },
    bug: { type: 'string' },
    result: { type: 'string' },
  },
})
if (values.help) {
  process.stdout.write(usage)
  process.exit(0)
}
const { bug } = values
if (bug !== undefined && !isBug(bug)) {
  process.stderr.write(`There is no deliberate bug ${bug}.\n\n${usage}`)
  process.exit(2)
}
const options = bug === undefined ? {} : { mistake: { bug } }
const first = Number(values.seed ?? values.from)
const count = values.seed === undefined ? Number(values.seeds) : 1
if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count) || count < 1) {
  process.stderr.write(usage)
  process.exit(2)
}

const startedAtMs = performance.now()
let steps = 0
let rounds = 0
let movements = 0
const kinds = new Map<string, { first: string; seeds: number[] }>()
for (let seed = first; seed < first + count && (values.all || kinds.size === 0); seed++) {
  const run = await simulate(seed, { ...options, withTrace: values.seed !== undefined })
  for (const line of run.trace) process.stdout.write(`${line}\n`)
  steps += run.steps
  rounds += run.rounds
  movements += run.movements
  if (run.violation === null || run.promise === null) continue
  const kind = kinds.get(run.promise) ?? { first: run.violation, seeds: [] }
  kinds.set(run.promise, { ...kind, seeds: [...kind.seeds, seed] })
}
for (const { first: violation, seeds } of kinds.values()) {
  const [seed] = seeds
  const more = seeds.length === 1 ? '' : `${seeds.length} seeds: ${seeds.slice(0, seedsShown).join(' ')}\n`
  process.stdout.write(
    `seed ${seed}: ${violation}\n${more}Again, with its trace: npm run simulate -- --seed ${seed}\n`,
  )
}
const seconds = (performance.now() - startedAtMs) / 1000
process.stdout.write(
  `${steps} steps, ${rounds} rounds, ${movements} movements in ${seconds.toFixed(1)} s (${((count / seconds) * 60).toFixed(0)} seeds a minute)\n`,
)
if (values.result !== undefined) {
  const broken = [...kinds].map(([promise, { first: violation, seeds }]) => ({ promise, violation, seeds }))
  const verdict = broken.length === 0 ? 'held' : 'broken'
  const counts = { steps, rounds, movements, took_s: Math.round(seconds) }
  keepResult(values.result, {
    ...{ run: 'simulate', from: first, seeds: count, bug: bug ?? null, verdict, ...counts, broken },
  })
}
exitAfterOutput((kinds.size === 0) === (bug === undefined) ? 0 : 1)
