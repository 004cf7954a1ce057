import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createCleanup } from '@pitboss/bench/harness/cleanup'
import { exitAfterOutput } from '@pitboss/bench/harness/exit-after-output'
import { temporaryFolder } from '@pitboss/bench/harness/temporary-folder'
import type { Seen } from './clients-at-work.ts'
import { rotation } from './rotation.ts'
import { openRotationWorld } from './rotation-world.ts'

const usage = `Usage: npm run --silent rehearse -- rotation [--keep FOLDER]

  rotation       exchanges every secret of a running product while clients are at work, step by step
  --keep FOLDER  keeps the product's log and data there

Prints each step with what clients saw. Exit code 1 when a request failed that a client could not repeat, when a step
failed, or when the books do not balance.
`

const keep = readFolder()
const cleanup = createCleanup()
let failed = true
try {
  failed = await rehearse(keep ?? temporaryFolder('rehearsal', cleanup))
} catch (error) {
  process.stderr.write(`${String(error)}\n`)
} finally {
  await cleanup.run()
}
exitAfterOutput(failed ? 1 : 0)

async function rehearse(folder: string): Promise<boolean> {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const world = await openRotationWorld(folder, cleanup)
  await world.clients.playOn()
  for (const [index, step] of rotation.entries()) {
    print(`${index + 1}. ${step.name}`)
    let problem: unknown = null
    let done = ''
    try {
      done = await step.run(world)
      if (index < rotation.length - 1) await world.clients.playOn()
    } catch (error) {
      problem = error
    }
    const seen = world.clients.look()
    if (problem === null) print(`   ${done}`)
    print(`   clients: ${textOf(seen)}`)
    for (const lost of seen.lost) print(`   LOST ${JSON.stringify(lost)}`)
    if (problem !== null) print(`   FAILED ${whyOf(problem)}`)
    if (problem !== null || seen.lost.length > 0) return true
  }
  print('every secret was exchanged, and no client lost a request')
  return false
}

function textOf({ served, repeated, renewed, expected }: Seen): string {
  const parts = [
    `${served} served`,
    ...[...repeated].map(([code, count]) => `${count} repeated (${code})`),
    ...(renewed === 0 ? [] : [`${renewed} got a token anew`]),
    ...[...expected].map(([code, count]) => `${count} refused as expected (${code})`),
  ]
  return parts.join(', ')
}

function whyOf(problem: unknown): string {
  if (!(problem instanceof Error)) return String(problem)
  return problem.cause === undefined ? problem.message : `${problem.message}: ${whyOf(problem.cause)}`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function readFolder(): string | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h', default: false }, keep: { type: 'string' } },
    })
    if (values.help) {
      process.stdout.write(usage)
      process.exit(0)
    }
    if (positionals.join() !== 'rotation') throw new Error('name a rehearsal: rotation')
    return values.keep
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
    process.exit(2)
  }
}
