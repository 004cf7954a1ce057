import { resolve } from 'node:path'
import { Command } from 'commander'
import { DemoError } from './demo/answers.ts'
import { createDemoLog } from './demo/demo-log.ts'
import { runTour } from './demo/demo-tour.ts'
import { readDemoFile } from './demo-file.ts'
import { explainFailure } from './stack-error.ts'
import { createLogOutput } from './logs/log-output.ts'
import { readStackOptions } from './stack-options.ts'
import { type Stack, startStack } from './start-stack.ts'

/**
 * `npm run demo`: the guided tour against the running stack, or one that it starts for itself. Source:
 * docs/contract.md, section 9.
 */
const command = new Command('npm run demo --')
  .option('--json', 'one JSON object per step', false)
  .option('--data-dir <folder>', 'of the stack', process.env.PITBOSS_DATA_DIR ?? '.pitboss')
  .option('--port <number>', 'of a stack that has to be started', process.env.PORT ?? '8080')
  .parse()
const { json, dataDir, port } = command.opts<{ json: boolean; dataDir: string; port: string }>()
const log = createDemoLog(json, (line) => process.stdout.write(`${line}\n`))
let own: Stack | null = null
const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort())

try {
  if (!(await isRunning())) {
    process.stderr.write('No stack is running; starting one for the tour.\n')
    const options = readStackOptions(['--data-dir', dataDir, '--port', port], process.env, true)
    own = await startStack(
      options,
      createLogOutput({ format: 'json', write: () => undefined }),
      new AbortController().signal,
    )
  }
  const demo = readDemoFile(dataDir)
  if (demo === null) throw new DemoError('demo.json is missing; was the stack started with --no-demo?')
  await runTour(demo, resolve(dataDir), log, interrupted.signal)
  if (!json) process.stdout.write('\nAll of it happened as it should.\n')
} catch (error) {
  log.end()
  const { text, exitCode } = explainFailure(error)
  process.stderr.write(`\nThe tour stopped: ${text}\n`)
  process.exitCode = exitCode
} finally {
  await own?.stop()
}

async function isRunning(): Promise<boolean> {
  const demo = readDemoFile(dataDir)
  if (demo === null) return false
  try {
    return (await fetch(`${demo.base_url}/readyz`, { signal: AbortSignal.timeout(3000) })).ok
  } catch {
    return false
  }
}
