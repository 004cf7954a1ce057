import { z } from 'zod'
import { type Answer, codeOf, isTransient } from '../send.ts'
import { inCurrency } from '../in-currency.ts'
import { endOpenRounds } from './end-open-rounds.ts'
import { ask, type ClientDeps, openSession, perhapsDoubled, rest } from './client.ts'

const movement = z.looseObject({ transaction_id: z.string(), round_id: z.string(), status: z.string() })
const unknownCodes = ['WALLET_TIMEOUT', 'WALLET_UNAVAILABLE']

type Body = Record<string, unknown> & { transaction_id: string }

/** Between which times an impatient server rolls an unanswered stake back. */
const impatienceMs = { least: 300, most: 4000 }
const togetherWithinMs = 400

/** The workers of an operator's server that drive rounds of one player; they know nothing of each other. */
export async function driveRounds(
  deps: ClientDeps,
  { playerId, currency, workers }: { playerId: string; currency: string; workers: number },
): Promise<void> {
  const session = await openSession(deps, { player_id: playerId, game: 'dice', currency })
  if (session === null) return
  const { sessionId } = session
  const names = Array.from({ length: workers }, (_, index) => `worker${index + 1}-`)
  await Promise.all(
    names.map((worker) =>
      work({ ...deps, random: deps.random.fork(worker) }, { playerId, currency, sessionId, worker }),
    ),
  )
}

/**
 * Stakes, wins, refunds, rollbacks, each repeated until it is answered for good; some at once, some before
 * an answer has come. Every answer is noted, also one that comes after the server has rolled back: its
 * other workers still read that connection.
 */
async function work(
  deps: ClientDeps,
  {
    playerId,
    currency,
    sessionId,
    worker,
  }: { playerId: string; currency: string; sessionId: string; worker: string },
): Promise<void> {
  const { random, stopping, operator } = deps
  const worth = (usd: string) => inCurrency(usd, currency)

  /** Sends until the answer is final; some are sent several times at once. */
  const settle = (body: Body): Promise<Answer> =>
    perhapsDoubled(deps, () =>
      ask(
        deps,
        { what: 'movement', id: body.transaction_id, path: '/transactions', token: operator.token, body },
        (answer) => !isTransient(answer) && !unknownCodes.includes(codeOf(answer) ?? ''),
      ),
    )

  for (let number = 1; !stopping.aborted; number++) {
    const id = (kind: string) => `${kind}.${playerId}.${worker}${number}`
    const stake = {
      type: 'BET',
      transaction_id: id('bet'),
      session_id: sessionId,
      amount: worth(random.pick(['1.00', '3.33', '10.00'])),
      currency,
    }
    const back = (type: 'REFUND' | 'ROLLBACK', kind: string, of: string) => ({
      type,
      transaction_id: id(kind),
      reference_transaction_id: id(of),
    })
    const taken = await stakeFirst(stake)
    const placed = movement.safeParse(taken.body)
    if (random.chance(0.15)) {
      const other = { ...stake, amount: worth('7.77') }
      const request = { what: 'other-body', id: stake.transaction_id, path: '/transactions' } as const
      // Only an id that is known to be taken: otherwise this would be the first request.
      if (placed.success) await ask(deps, { ...request, token: operator.token, body: other })
    }
    if (placed.success && placed.data.status === 'SUCCESS') {
      const { round_id } = placed.data
      const more = (kind: string) => ({ ...stake, transaction_id: id(kind), round_id, amount: worth('0.50') })
      const win = (kind: string, value: string) => ({
        type: 'WIN',
        transaction_id: id(kind),
        round_id,
        amount: worth(value),
        currency,
        outcome: { number },
      })
      const part = (kind: string) => ({ ...win(kind, '1.00'), final: false })
      if (random.chance(0.2)) await settle(more('more'))
      if (random.chance(0.2)) await settle(part('first'))
      const kind = random.next()
      if (kind < 0.25) await settle(win('win', random.pick(['2.00', '6.66', '19.80'])))
      else if (kind < 0.35) await settle(win('win', '0.00'))
      else if (kind < 0.45) await settle(back('REFUND', 'refund', 'bet'))
      else if (kind < 0.55) await settle(back('ROLLBACK', 'rollback', 'bet'))
      else if (kind < 0.65) {
        const paid = await settle(win('win', '5.00'))
        if (paid.status < 300 && paid.status >= 200) await settle(back('ROLLBACK', 'unwin', 'win'))
      } else {
        await atOnce(
          random.pick<Body[]>([
            [more('side'), back('REFUND', 'refund', 'bet')],
            [more('side'), back('ROLLBACK', 'rollback', 'bet')],
            [more('side'), win('win', '2.00')],
            [more('side'), part('part'), win('win', '2.00')],
            [part('part'), win('win', '2.00')],
            [part('part'), back('REFUND', 'refund', 'bet')],
            [back('REFUND', 'refund', 'bet'), back('ROLLBACK', 'rollback', 'bet')],
            [win('win', '2.00'), back('ROLLBACK', 'rollback', 'bet')],
          ]),
        )
      }
      await finish(round_id)
    } else if (unknownCodes.includes(codeOf(taken) ?? '') && random.chance(0.6)) {
      await settle(back('ROLLBACK', 'rollback', 'bet'))
    } else if (codeOf(taken) === 'ROUND_IN_PROGRESS') {
      await endOpenRounds(deps.operator, playerId)
    }
    // The very same request once more, long after: the same record, or the same refusal.
    if (random.chance(0.1)) await settle(stake)
    await rest(deps)

    async function stakeFirst(body: Body): Promise<Answer> {
      let answered = false
      const asking = settle(body).finally(() => (answered = true))
      if (!random.chance(0.5)) return asking
      const early = async () => {
        await rest(deps, impatienceMs.least, impatienceMs.most)
        if (!answered) await settle(back('ROLLBACK', 'early', 'bet'))
      }
      const [answer] = await Promise.all([asking, early()])
      return answer
    }
  }

  async function atOnce(bodies: readonly Body[]): Promise<void> {
    await Promise.all(
      bodies.map(async (body) => {
        await rest(deps, 0, togetherWithinMs)
        await settle(body)
      }),
    )
  }

  /** Gives up every stake of the round that is still open: the round must not stay open for ever. */
  async function finish(roundId: string): Promise<void> {
    const body = { type: 'WIN', round_id: roundId, amount: worth('0.00'), currency }
    for (let tries = 0; tries < 8; tries++) {
      // A refused id is used up.
      const answer = await settle({ ...body, transaction_id: `end.${roundId}.${tries}` })
      if (codeOf(answer) !== 'ROUND_IN_PROGRESS') return
      await rest(deps, 200, 500)
    }
  }
}
