import { join } from 'node:path'
import { explainFailure } from './stack-error.ts'
import { createLogFile } from './logs/log-file.ts'
import { createLogOutput } from './logs/log-output.ts'
import { findOldPages } from './find-old-pages.ts'
import { readStackOptions } from './stack-options.ts'
import { projectFile } from './stack-services.ts'
import { type Stack, startStack } from './start-stack.ts'
import colors from 'picocolors'

const options = readStackOptions(process.argv.slice(2), process.env, process.stdout.isTTY === true)
const write = (line: string) => process.stdout.write(`${line}\n`)
const output = createLogOutput(
  options.log === 'json'
    ? { format: 'json', write }
    : {
        format: 'pretty',
        write,
        keep: createLogFile(join(options.dataDir, 'logs')),
        nowMs: () => performance.now(),
      },
)
const stopping = new AbortController()
let stack: Stack | null = null
/** Images carry pages of their own. */
const oldPages = options.images ? null : findOldPages(projectFile('.'))

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
  if (oldPages !== null && !options.table) output.say('pages.old', { why: oldPages })
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

/** Table of what a person needs first: addresses, logins, the place of the secrets, the next command. */
function stackTable({ baseUrl, dataDir, demo, engines }: Stack): string {
  const rows: [string, string][] = [
    ['API', baseUrl],
    ['API reference', `${baseUrl}/v1/public/docs`],
    ['Verify a round', `${baseUrl}/v1/public/verify`],
    ...(oldPages === null ? [] : [['Pages', colors.yellow(oldPages)] as [string, string]]),
    ...(demo === null
      ? [['Operator', 'none yet: npm run ops -- operator create --name "…" --email …'] as [string, string]]
      : ([
          ['Dashboard login', `${demo.dashboard.email}  ${demo.dashboard.password}`],
          ['Test key', `${demo.test.api_key}  (secret in demo.json)`],
          ['Live key', `${demo.live.api_key}  (secret in demo.json)`],
          ['Sandbox wallet', `${demo.wallet.url}/sandbox`],
          ['Live wallet', `${demo.live_wallet.url}/sandbox`],
          ['Webhook receiver', new URL('/demo', demo.receiver.url).href],
          ['All of this', `${dataDir}/demo.json`],
        ] as [string, string][])),
    ...(options.log === 'pretty'
      ? [['Whole log (JSON)', `${dataDir}/logs/stack.jsonl`] as [string, string]]
      : []),
    ['Engines', `MongoDB: ${engines.mongodb.kind}, NATS: ${engines.nats.kind}`],
  ]
  const lines = rows.map(([name, value]) => `  ${colors.dim(name.padEnd(17))} ${value}`)
  return `\n${colors.bold('Pitboss is ready.')}\n${lines.join('\n')}\n\n  See it play:      npm run demo        (in a second terminal)\n  End it:           Ctrl-C\n\n`
}
