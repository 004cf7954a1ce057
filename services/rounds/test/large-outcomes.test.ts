import { randomBytes } from 'node:crypto'
import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import t from 'tap'
import { startRig } from './fixtures/rounds-rig.ts'

t.test('rounds with large outcomes come in as many pages as they need', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const caller = rig.caller()
  const place = async (body: Record<string, unknown>) =>
    (
      await rig.bus.call(
        endpoints.placeTransaction.call,
        endpoints.placeTransaction.call.request.parse({ caller, params: {}, query: {}, body }),
      )
    ).body
  const amount = { amount: '0.00', currency: 'USD' }
  const made: string[] = []
  for (let count = 0; count < 24; count++) {
    const { round_id } = await place({
      type: 'BET',
      transaction_id: `bet-${count}`,
      session_id: session.session_id,
      amount: '1.00',
      currency: 'USD',
    })
    if (round_id === null) throw new Error('a stake has a round')
    // Noise, which no compression makes smaller.
    const outcome = { noise: randomBytes(45_000).toString('base64') }
    await place({ type: 'WIN', transaction_id: `win-${count}`, round_id, ...amount, outcome })
    made.push(round_id)
  }
  const seen: string[] = []
  let cursor: string | null = null
  let pages = 0
  do {
    const query: { limit: number; cursor?: string } = { limit: 200, ...(cursor === null ? {} : { cursor }) }
    const page = await rig.bus.call(endpoints.listRounds.call, { caller, params: {}, query, body: undefined })
    seen.push(...page.body.data.map(({ round_id }) => round_id))
    cursor = page.body.next_cursor
    pages++
  } while (cursor !== null && pages < 10)
  t.same(seen, made.toReversed(), 'each once, newest first')
  t.ok(pages > 1)
})
