import t from 'tap'
import { csvField } from '../src/csv-field.ts'

t.test('no spreadsheet takes a field for a formula', (t) => {
  for (const text of [
    '=1+1',
    '+1+1',
    '-1+1',
    '@SUM(A1)',
    '\tx',
    '\u{ff1d}1',
    '\u{ff0b}1',
    '\u{ff0d}1',
    '\u{ff20}1',
  ])
    t.equal(csvField(text), `'${text}`)
  t.equal(csvField('\n=1'), `"'\n=1"`)
  for (const text of ['-1.50', '12', 'EUR', '', 'a=b']) t.equal(csvField(text), text)
  t.equal(csvField('a "b", c'), '"a ""b"", c"')
  t.end()
})
