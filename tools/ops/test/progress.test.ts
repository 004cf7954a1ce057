import t from 'tap'
import { createProgress } from '../src/output.ts'
import { readInstant, readReason } from '../src/read-flags.ts'

function recorder(isTTY: boolean) {
  const written: string[] = []
  return { written, isTTY, write: (text: string) => written.push(text) > 0 }
}

t.test('a terminal gets a bar that is wiped at the end', async (t) => {
  const stream = recorder(true)
  const progress = createProgress(10, stream, () => 0)
  progress.tell(5, '5 of 10')
  progress.tell(11, '11 of 10')
  progress.end()
  t.strictSame(stream.written, [
    `\r\u001b[K${'█'.repeat(12)}${'░'.repeat(12)} 50% 5 of 10`,
    `\r\u001b[K${'█'.repeat(24)}100% 11 of 10`,
    '\r\u001b[K',
  ])
})

t.test('elsewhere there is a line every 5 s and nothing else', async (t) => {
  const stream = recorder(false)
  let nowMs = 0
  const progress = createProgress(100, stream, () => nowMs)
  for (let second = 1; second <= 12; second++) {
    nowMs = second * 1000
    progress.tell(second, `${second} done`)
  }
  progress.end()
  t.strictSame(stream.written, ['5 done\n', '10 done\n'])
})

t.test('times and reasons are read strictly', async (t) => {
  t.equal(readInstant('2026-11-20T09:30:00+01:00'), '2026-11-20T08:30:00.000Z')
  t.equal(readInstant('2026-11-20'), '2026-11-20T00:00:00.000Z')
  for (const text of [
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '5',
    'yesterday',
    '2026-11-20T25:00:00Z',
    '2026-11-20T09:30:00',
    '',
  ])
    t.throws(() => readInstant(text), { code: 'commander.invalidArgument' }, text)
  t.equal(readReason(' signed '), 'signed')
  for (const text of ['', '  ', 'x'.repeat(513)])
    t.throws(() => readReason(text), { code: 'commander.invalidArgument' }, text)
})
