import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'
import t from 'tap'
import { createLogFile } from '../src/logs/log-file.ts'
import { createLogOutput } from '../src/logs/log-output.ts'

const at = { time: '2026-11-23T12:34:56.789Z', pid: 1 }

/** What a person sees of what one process writes, and what is kept. */
function show() {
  const shown: string[] = []
  const kept: string[] = []
  const clock = { ms: 0 }
  const output = createLogOutput({
    format: 'pretty',
    write: (line) => shown.push(stripVTControlCharacters(line)),
    keep: (line) => kept.push(line),
    nowMs: () => clock.ms,
  })
  const log = (record: object) => output.line('rounds', JSON.stringify({ level: 'info', ...at, ...record }))
  return { shown, kept, clock, output, log }
}

t.test('a person sees one line for each happening, and everything is kept', (t) => {
  const { shown, kept, log, output } = show()
  log({ msg: 'service.starting', probe_port: 1 })
  log({ msg: 'service.started' })
  log({ msg: 'call.served', subject: 'rounds.v1.round.play', duration_ms: 3 })
  log({
    msg: 'request.served',
    request_id: 'req_1',
    route: '/v1/sessions',
    method: 'POST',
    status: 201,
    code: null,
    duration_ms: 3.1,
  })
  log({
    msg: 'request.served',
    route: '/v1/rounds',
    method: 'GET',
    status: 404,
    code: 'NOT_FOUND',
    duration_ms: 1,
  })
  log({ msg: 'replay.done', replay_id: 'rpl_1', events: 3 })
  output.line('receiver', '{"ready":true,"port":1}')
  output.line('receiver', 'plain words\n')
  const from = '12:34:56 rounds          '
  t.strictSame(shown, [
    `${from} is up`,
    `${from} POST /v1/sessions 201 3.1 ms`,
    `${from} GET /v1/rounds 404 NOT_FOUND 1 ms`,
    `${from} replay done replay_id=rpl_1 events=3`,
    `         receiver         plain words`,
  ])
  t.equal(kept.length, 8)
  t.match(JSON.parse(kept[7] ?? ''), { service: 'receiver', msg: 'process.said', line: 'plain words' })
  t.end()
})

t.test('warnings and errors stand out by their reason, and one that repeats is counted', (t) => {
  const { shown, log, clock, output } = show()
  const err = {
    type: 'Error',
    message: 'no primary',
    stack: 'Error: no primary\n    at x',
    cause: { message: 'ECONNREFUSED' },
  }
  log({ level: 'error', msg: 'sweep.failed', err })
  for (let i = 0; i < 4; i++) log({ level: 'warn', msg: 'database.unreachable', err })
  clock.ms = 6000
  log({ level: 'warn', msg: 'database.unreachable', err })
  output.say('process.died', { process: 'auth', code: null, signal: 'SIGKILL', restart_in_ms: 200 })
  const from = '12:34:56 rounds          '
  t.strictSame(shown.slice(0, 3), [
    `${from}  ERROR  sweep failed: no primary: ECONNREFUSED`,
    `${from} ! database unreachable: no primary: ECONNREFUSED`,
    `${from} ! database unreachable: no primary: ECONNREFUSED (and 3 more)`,
  ])
  t.match(shown[3], / stack +ERROR +auth died \(SIGKILL\); it starts again in 200 ms$/)
  t.equal(shown.length, 4)
  t.end()
})

t.test('JSON lines pass as they are', async (t) => {
  const written: string[] = []
  const output = createLogOutput({ format: 'json', write: (line) => written.push(line) })
  const stream = new PassThrough()
  output.attach('auth', stream)
  const line = JSON.stringify({ level: 'info', ...at, msg: 'call.served' })
  stream.end(`${line}\nWarning: x\n`)
  await once(stream, 'end')
  t.equal(written[0], line)
  t.match(JSON.parse(written[1] ?? ''), { service: 'auth', msg: 'process.said', line: 'Warning: x' })
})

t.test('the file of a start is private, and the one before stays', (t) => {
  const folder = join(t.testdir({}), 'logs')
  mkdirSync(folder)
  writeFileSync(join(folder, 'stack.jsonl'), 'of the start before\n')
  const keep = createLogFile(folder, 12)
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  t.equal(read('stack.jsonl'), 'of the start before\n', 'nothing changes before the first line')
  keep('first line')
  t.equal(read('stack.1.jsonl'), 'of the start before\n')
  t.equal(statSync(join(folder, 'stack.jsonl')).mode & 0o777, 0o600)
  keep('second')
  keep('third')
  t.equal(read('stack.1.jsonl'), 'first line\nsecond\n', 'a full one is put aside')
  t.equal(read('stack.jsonl'), 'third\n')
  t.end()
})

t.test('nothing of a line acts on the terminal, whoever wrote it', (t) => {
  const forged = 'Evil\u001b[2K\u001b]52;c;Y3VybA==\u0007\u009b1m\u202egnp\u2028x\ny'
  const ourColours = new RegExp(`${String.fromCodePoint(27)}\\[\\d+m`, 'g')
  const lines: string[] = []
  const output = createLogOutput({
    format: 'pretty',
    write: (line) => lines.push(line),
    keep: () => undefined,
    nowMs: () => 0,
  })
  const log = (record: object) => output.line('rounds', JSON.stringify({ level: 'info', ...at, ...record }))
  log({ msg: 'replay.done', name: forged, more: { name: forged } })
  log({ msg: forged })
  log({ level: 'error', msg: 'call.failed', err: { message: forged, cause: { message: `of ${forged}` } } })
  log({ msg: 'request.served', route: forged, method: forged, status: 200, code: forged, duration_ms: 1 })
  output.line('receiver', forged)
  output.say('process.died', { process: forged, signal: forged, restart_in_ms: 1 })
  t.equal(lines.length, 6)
  for (const line of lines) {
    t.match(line, /Evil/)
    t.notMatch(line.replaceAll(ourColours, ''), /[\p{Cc}\u2028\u202e]/u)
  }
  t.end()
})
