import { z } from 'zod'
import { type Answer, codeOf, isTransient } from '../send.ts'
import { endOpenRounds } from './end-open-rounds.ts'
import { ask, type ClientDeps, openSession, rest } from './client.ts'

const movement = z.looseObject({ transaction_id: z.string(), round_id: z.string(), status: z.string() })
const unknownCodes = ['WALLET_TIMEOUT', 'WALLET_UNAVAILABLE']

type Body = Record<string, unknown> & { transaction_id: string }

/** An operator's server that drives rounds of its own: stakes, wins, refunds, rollbacks, each repeated until it is answered for good. */
export async function driveRounds(deps: ClientDeps, playerId: string): Promise<void> {
  const { random, stopping, operator } = deps
  const session = await openSession(deps, { player_id: playerId, game: 'dice', currency: 'USD' })
  if (session === null) return

  /** Sends until the answer is final; one in eight is sent several times at once. */
  async function settle(body: Body): Promise<Answer> {
    const once = () =>
      ask(
        deps,
        { what: 'movement', id: body.transaction_id, path: '/transactions', token: operator.token, body },
        (answer) => !isTransient(answer) && !unknownCodes.includes(codeOf(answer) ?? ''),
      )
    const [first] = await Promise.all(Array.from({ length: random.chance(0.12) ? 4 : 1 }, once))
    if (first === undefined) throw new Error('nothing was sent')
    return first
  }

  for (let number = 1; !stopping.aborted; number++) {
    const id = (kind: string) => `${kind}.${playerId}.${number}`
    const amount = random.pick(['1.00', '3.33', '10.00'])
    const stake = {
      type: 'BET',
      transaction_id: id('bet'),
      session_id: session.sessionId,
      amount,
      currency: 'USD',
    }
    const taken = await settle(stake)
    if (random.chance(0.15)) {
      const other = { ...stake, amount: '7.77' }
      const request = { what: 'other-body', id: stake.transaction_id, path: '/transactions' } as const
      // Only an id that is known to be taken: otherwise this would be the first request.
      if (movement.safeParse(taken.body).success)
        await ask(deps, { ...request, token: operator.token, body: other })
    }
    const placed = movement.safeParse(taken.body)
    const reference = { reference_transaction_id: stake.transaction_id }
    if (placed.success && placed.data.status === 'SUCCESS') {
      const { round_id } = placed.data
      const win = (value: string) => ({
        type: 'WIN',
        transaction_id: id('win'),
        round_id,
        amount: value,
        currency: 'USD',
        outcome: { number },
      })
      if (random.chance(0.2)) {
        await settle({ ...stake, transaction_id: id('more'), round_id, amount: '0.50' })
      }
      const kind = random.next()
      if (kind < 0.35) await settle(win(random.pick(['2.00', '6.66', '19.80'])))
      else if (kind < 0.5) await settle(win('0.00'))
      else if (kind < 0.65) await settle({ type: 'REFUND', transaction_id: id('refund'), ...reference })
      else if (kind < 0.8) await settle({ type: 'ROLLBACK', transaction_id: id('rollback'), ...reference })
      else if (kind < 0.9) {
        await Promise.all([
          settle({ type: 'REFUND', transaction_id: id('refund'), ...reference }),
          settle({ type: 'ROLLBACK', transaction_id: id('rollback'), ...reference }),
        ])
      } else {
        const paid = await settle(win('5.00'))
        const back = { type: 'ROLLBACK', transaction_id: id('unwin'), reference_transaction_id: id('win') }
        if (paid.status < 300 && paid.status >= 200) await settle(back)
      }
      await finish(round_id)
    } else if (unknownCodes.includes(codeOf(taken) ?? '') && random.chance(0.6)) {
      await settle({ type: 'ROLLBACK', transaction_id: id('rollback'), ...reference })
    } else if (codeOf(taken) === 'ROUND_IN_PROGRESS') {
      await endOpenRounds(deps.operator, playerId)
    }
    await rest(deps)
  }

  /** Whatever stake is still open in the round is lost: the round must not stay open for ever. */
  async function finish(roundId: string): Promise<void> {
    const body = {
      type: 'WIN',
      transaction_id: `end.${roundId}`,
      round_id: roundId,
      amount: '0.00',
      currency: 'USD',
    }
    for (let tries = 0; tries < 8; tries++) {
      const answer = await settle(body)
      if (codeOf(answer) !== 'ROUND_IN_PROGRESS') return
      await rest(deps, 200, 500)
    }
  }
}
