import t from 'tap'
import { type Difference, diffRows, type Finding } from '../src/diff-ledger.ts'

const window = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-20T23:59:59.999Z' }

/** What is found of the second line that the comparison judges as told. */
async function found(difference: Difference): Promise<Finding | undefined> {
  const ours = {
    compare: async () => ({ differences: [difference], matched: 0 }),
    ours: async () => ({ rows: [], next: null }),
  }
  async function* lines() {
    const money = { type: 'BET', amount: '1.00', currency: 'EUR', player_id: null }
    yield { ok: true as const, line: 3, row: { transaction_id: 'bet-0', ...money } }
    yield { ok: true as const, line: 7, row: { transaction_id: 'bet-1', ...money } }
  }
  for await (const finding of diffRows(ours, window, lines())) return finding
  return undefined
}

t.test('a line that we have not, or have refused, is told in words', async (t) => {
  const extra = { kind: 'extra', transaction_id: 'bet-1' } as const
  const status = { field: 'status', ours: 'FAILED', theirs: 'in the ledger' }
  const code = { field: 'wallet_code', ours: 'INSUFFICIENT_FUNDS', theirs: null }
  t.match(await found({ ...extra, fields: [] }), { message: 'We have no movement with this id.' })
  t.match(await found({ ...extra, fields: [status, code] }), {
    message: 'Our record of this movement is FAILED: the wallet refused it with INSUFFICIENT_FUNDS.',
  })
  t.match(await found({ ...extra, fields: [status] }), {
    message: 'Our record of this movement is FAILED: it moved no money.',
  })
  const different = { kind: 'different', transaction_id: 'bet-1', fields: [] } as const
  t.strictSame(await found(different), { ...different, line: 7 }, 'fields say it all')
  t.match(await found({ ...extra, fields: [] }), { line: 7 }, 'where it stands in the ledger')
})
