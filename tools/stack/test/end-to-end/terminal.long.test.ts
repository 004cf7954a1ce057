import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { findProgram } from '@pitboss/engines/engine-settings'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const readyWithinMs = 90_000

/** util-linux's `script`, which runs a program on a terminal of its own. */
const script = process.platform === 'linux' ? findProgram(process.env, 'SCRIPT_BIN', 'script') : null
const skip = script === null ? 'there is no script of util-linux here' : false

t.test('a person at a terminal reads lines, and the JSON goes to a file', { skip }, async (t) => {
  const dataDir = join(t.testdir({}), 'data')
  const command = [process.execPath, main, '--port', '0', '--data-dir', dataDir, '--no-demo']
  const child = spawn(
    script?.path ?? '',
    ['--quiet', '--return', '--command', `exec ${command.join(' ')}`, '/dev/null'],
    { env: { ...process.env, TERM: 'xterm', NO_COLOR: undefined }, stdio: ['pipe', 'pipe', 'inherit'] },
  )
  t.teardown(() => child.kill('SIGKILL'))
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk
  })
  const ended = once(child, 'exit')
  await waitFor(() => child.exitCode !== null || printed.includes('End it:'), {
    timeoutMs: readyWithinMs,
    what: 'the table of addresses',
  })
  const base = /API\s+(http:\S+)/.exec(stripVTControlCharacters(printed))?.[1]
  t.equal((await fetch(`${base}/v1/nothing`)).status, 404)
  await waitFor(() => printed.includes('NOT_FOUND'), { what: 'the line of the request' })
  // Ctrl-C, as the terminal passes it on.
  child.stdin.write('\u0003')
  const [code] = await ended
  t.equal(code, 0, printed)

  t.not(stripVTControlCharacters(printed), printed, 'in colour')
  const lines = stripVTControlCharacters(printed).split(/\r?\n/)
  for (const name of ['auth', 'rounds', 'wallet-bridge', 'webhooks', 'gateway'])
    t.equal(lines.filter((line) => new RegExp(`^[\\d:]{8} ${name} +is up$`).test(line)).length, 1, name)
  t.ok(lines.some((line) => /gateway +GET \S+ 404 NOT_FOUND [\d.]+ ms$/.test(line)))
  t.strictSame(
    lines.filter((line) => line.includes('{"')),
    [],
  )
  const kept = readFileSync(join(dataDir, 'logs', 'stack.jsonl'), 'utf8')
    .trim()
    .split('\n')
  const messages = kept.map((line) => String(JSON.parse(line).msg))
  for (const msg of ['service.starting', 'service.started', 'request.served', 'service.stopped'])
    t.ok(messages.includes(msg), msg)
})
