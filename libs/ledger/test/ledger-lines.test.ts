import { Readable } from 'node:stream'
import t from 'tap'
import { type LedgerFormat, type LedgerLine, readLedger } from '../src/ledger-lines.ts'

async function read(text: string, format: LedgerFormat, chunkBytes = 7) {
  const bytes = Buffer.from(text)
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  )
  const lines: LedgerLine[] = []
  for await (const line of readLedger(Readable.from(chunks), format)) lines.push(line)
  return lines
}

await t.test('a CSV is read by its heading, with quotes, in whatever pieces it comes', async (t) => {
  const csv = [
    'amount,transaction_id,type,currency,player_id,note\r',
    '1.00,"a,""1""",BET,EUR,,ü\r',
    '2.00,b,WIN\r',
    '',
    '3.00,c,WIN,EUR,p-1,',
  ].join('\n')
  t.match(await read(csv, 'csv'), [
    { ok: true, line: 2, row: { transaction_id: 'a,"1"', amount: '1.00', player_id: null } },
    { ok: false, line: 3 },
    { ok: true, line: 5, row: { transaction_id: 'c', player_id: 'p-1' } },
  ])
  await t.rejects(read('transaction_id,type\n', 'csv'), { code: 'VALIDATION_ERROR' })
})

await t.test('JSON lines are read one by one, and a line that is none says so', async (t) => {
  const row = { transaction_id: 't', type: 'BET', amount: '1.00', currency: 'EUR' }
  const lines = [JSON.stringify(row), '{"transaction_id":"u"}', 'no json', JSON.stringify({ ...row, own: 1 })]
  t.match(await read(lines.join('\n'), 'json-lines'), [
    { ok: true, line: 1, row: { ...row, player_id: null } },
    { ok: false, line: 2, message: /^type: / },
    { ok: false, line: 3, message: 'is not a JSON object' },
    { ok: true, line: 4 },
  ])
  await t.rejects(read('x'.repeat(9000), 'json-lines'), { code: 'VALIDATION_ERROR' })
})
