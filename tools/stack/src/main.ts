import { explainFailure } from './explain-failure.ts'
import { createLogOutput } from './log-output.ts'
import { readStackOptions } from './stack-options.ts'
import { type Stack, startStack } from './start-stack.ts'
import { stackTable } from './stack-table.ts'

const options = readStackOptions(process.argv.slice(2), process.env, process.stdout.isTTY === true)
const output = createLogOutput(options.log, (line) => process.stdout.write(`${line}\n`))
const stopping = new AbortController()
let stack: Stack | null = null

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) {
      stack?.killNow()
      process.exit(1)
    }
    output.say('stopping; once more ends it at once', { signal })
    stopping.abort()
    stack?.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    )
  })
}

try {
  stack = await startStack(options, output, stopping.signal)
  if (options.log === 'json')
    output.say('stack.ready', { base_url: stack.baseUrl, data_dir: stack.dataDir, engines: stack.engines })
  if (options.table) process.stdout.write(stackTable(stack))
} catch (error) {
  if (stopping.signal.aborted) process.exit(0)
  fail(error)
}

function fail(error: unknown): never {
  const { text, exitCode } = explainFailure(error)
  process.stderr.write(`${text}\n`)
  process.exit(exitCode)
}
