import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { inCurrency } from '../in-currency.ts'
import type { OperatorClient } from '../operator-client.ts'

const rounds = z.object({
  data: z.array(z.looseObject({ round_id: z.string(), driver: z.string(), currency: z.string() })),
})

/**
 * Ends, as lost, the open rounds that an operator's server drives: it may never have heard that their stakes
 * were taken. Each time under new ids, since one that was refused is used up.
 */
export async function endOpenRounds(operator: OperatorClient, playerId?: string): Promise<void> {
  const player = playerId === undefined ? '' : `&player_id=${playerId}`
  const answer = await operator.call('GET', `/rounds?status=OPEN&limit=200${player}`)
  const open = rounds.safeParse(answer.body)
  if (!open.success) return
  for (const { round_id, currency } of open.data.data.filter(({ driver }) => driver === 'operator')) {
    await operator.call('POST', '/transactions', {
      type: 'WIN',
      transaction_id: `end.${round_id}.${randomUUID()}`,
      round_id,
      amount: inCurrency('0.00', currency),
      currency,
    })
  }
}
