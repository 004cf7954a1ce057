import { shown, shownJson } from '@pitboss/contracts/acting-characters'
import t from 'tap'
import { reportFailure, UsageError } from '../src/failures.ts'
import { encoded, fieldTable, textTable } from '../src/output.ts'

const forged = 'Evil\u001b[2K\u001b[1Gop_1  Third\u001b]52;c;Y3VybA==\u0007\u001b[8m\u009b1m\u202egnp\u2028x'
const acting = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

t.test('nothing that a tenant writes acts on a terminal', async (t) => {
  t.notMatch(shown(forged), acting)
  t.equal(shown('two\nlines, Zoë’s №1 – ok'), 'two\nlines, Zoë’s №1 – ok', 'what is harmless stays')
  t.equal(shown('\u001b[2K'), '\\u{1b}[2K')
  for (const table of [textTable([{ name: forged, id: 1 }]), fieldTable({ name: forged })])
    t.notMatch(table.replaceAll('\n', ''), acting)
  const rows = textTable([{ name: 'a\nop_forged  row' }, { name: 'b' }]).split('\n')
  t.equal(rows.length, 3, 'a line break makes no row')
})

t.test('nor does what a command prints, or why it failed', async (t) => {
  const written: string[] = []
  const print = { stdout: (text: string) => written.push(text), stderr: (text: string) => written.push(text) }
  for (const json of [true, false]) encoded(print, json).show({ name: forged }, forged)
  encoded(print, false).note(forged)
  for (const error of [new UsageError(forged), new Error(forged)])
    reportFailure(error, (text) => written.push(text))
  t.equal(written.length, 5)
  for (const text of written) {
    t.match(text, /Evil/)
    t.notMatch(text.slice(0, -1), acting)
  }
})

t.test('a JSON value is the same value, in one line that does not act', async (t) => {
  const value = { name: forged, more: ['a\nb', 'é', 7] }
  const text = shownJson(value)
  t.strictSame(JSON.parse(text), value)
  t.notMatch(text, /[\p{Cc}\u2028\u202e]/u)
})
