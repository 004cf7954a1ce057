import { parseArgs } from 'node:util'
import { createCleanup } from '../harness/cleanup.ts'
import { exitAfterOutput } from '../harness/exit-after-output.ts'
import { writeResult } from '../harness/write-result.ts'
import { measureCosts } from './measure-costs.ts'
import { costs, ground } from './measured-costs.ts'
import { planCapacity } from './plan-capacity.ts'
import { renderPlan } from './render-plan.ts'

const usage = `Usage: npm run --silent capacity -- --operators N --rounds-per-second N [--reads-per-round N]
       npm run --silent capacity -- --measure

  --reads-per-round N  requests that read, for each round; 2 unless told
  --measure            measures this machine for three minutes instead (Linux) and writes what it saw

Prints replicas, brokers, shards with their keys, disk, and what ends first at 1, 10, 100 and 1,000 times as much, from the
costs of docs/capacity.md.
`

const flags = readFlags()
if (flags === null) {
  const cleanup = createCleanup()
  try {
    const seen = await measureCosts({ seconds: 20 }, cleanup, (text) => process.stderr.write(`${text}\n`))
    const path = writeResult('capacity', seen)
    process.stdout.write(`${JSON.stringify(seen, null, 2)}\n\nwritten to ${path}\n`)
  } finally {
    await cleanup.run()
  }
} else {
  process.stdout.write(`${renderPlan(planCapacity(costs, ground, flags), flags)}\n`)
}
exitAfterOutput(0)

function readFlags() {
  try {
    const { values } = parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        measure: { type: 'boolean', default: false },
        operators: { type: 'string' },
        'rounds-per-second': { type: 'string' },
        'reads-per-round': { type: 'string', default: '2' },
      },
    })
    if (values.help) {
      process.stdout.write(usage)
      process.exit(0)
    }
    if (values.measure) return null
    return {
      operators: read('operators', values.operators, 1),
      roundsPerSecond: read('rounds-per-second', values['rounds-per-second'], 0.01),
      readsPerRound: read('reads-per-round', values['reads-per-round'], 0),
    }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(2)
  }
}

function read(name: string, text: string | undefined, least: number): number {
  const value = Number(text)
  if (text === undefined || !/^\d+(\.\d+)?$/.test(text) || value < least || value > 1e9)
    throw new Error(`--${name} must be a number from ${least}`)
  return value
}
