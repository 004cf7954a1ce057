import t from 'tap'
import { csvText } from '../dashboard/src/parts/csv.ts'
import { curlOfWrite, curlText } from '../dashboard/src/parts/curl-text.ts'

t.test('no field of a CSV is a formula, and every field comes back as it was', async (t) => {
  const first = (text: string) => csvText([[text]]).trimEnd()
  for (const probe of ['=1+1', '+1-1', '@SUM(A1)', "-2+cmd|' /C calc'!A0", '\tx', '-12.00 EUR'])
    t.match(first(probe).replace(/^"/, ''), /^'/, probe)
  t.equal(first('=HYPERLINK("http://x","y")'), `"'=HYPERLINK(""http://x"",""y"")"`)
  t.equal(first('-12.00'), '-12.00', 'a number stays a number')
  t.equal(first('12.00 EUR'), '12.00 EUR')
  t.equal(
    csvText([
      ['a', 'b "c", d'],
      ['e\nf', ''],
    ]),
    'a,"b ""c"", d"\r\n"e\nf",\r\n',
  )
})

t.test('a read as curl is one command whatever a filter holds', async (t) => {
  const query = { environment: 'TEST', player_id: "o'neil; rm -rf $HOME", cursor: undefined, status: '' }
  t.equal(
    curlText('https://play.example.com', 'dashboard/rounds', query),
    [
      "curl --get 'https://play.example.com/v1/dashboard/rounds' \\",
      '  -H "authorization: Bearer $PITBOSS_TOKEN" \\',
      "  --data-urlencode 'environment=TEST' \\",
      `  --data-urlencode 'player_id=o'\\''neil; rm -rf $HOME'`,
    ].join('\n'),
  )
})

t.test('a write as curl sends exactly its body, whatever that holds', async (t) => {
  const write = { method: 'POST', path: 'dashboard/brands' } as const
  t.equal(
    curlOfWrite('https://play.example.com', write, { name: "o'neil $(rm) `x`" }),
    [
      "curl --request POST 'https://play.example.com/v1/dashboard/brands' \\",
      '  -H "authorization: Bearer $PITBOSS_TOKEN" \\',
      "  -H 'content-type: application/json' \\",
      `  --data-raw '{"name":"o'\\''neil $(rm) \`x\`"}'`,
    ].join('\n'),
  )
})
