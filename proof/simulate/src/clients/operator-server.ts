import { placeTransaction } from '@pitboss/contracts/endpoints/rounds'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import type { SessionDocument } from '@pitboss/rounds/storage/sessions-store'
import { inCurrency } from '@pitboss/chaos/in-currency'
import { type Answer, codeOf, isTransient } from '@pitboss/chaos/send'
import { nameRequest } from '../client-ids.ts'
import { type ClientDeps, createClient, operator } from './client.ts'

const unknownCodes = ['WALLET_TIMEOUT', 'WALLET_UNAVAILABLE']
/** Between which times an impatient server rolls an unanswered stake back. */
const impatienceMs = { least: 300, most: 4000 }
const togetherWithinMs = 400

/**
 * One worker of an operator's server that drives rounds of its own: stakes, wins, refunds, rollbacks; some
 * at once, some before an answer has come. Two workers of one player know nothing of each other.
 * @param impatience how often an unanswered stake is rolled back
 */
export async function driveRounds(
  deps: ClientDeps,
  { session, worker, impatience }: { session: SessionDocument; worker: string; impatience: number },
): Promise<void> {
  const { random, world, idStyle } = deps
  const { timeline } = world
  const { rest, isOver } = createClient(deps)
  const settle = settleWith(deps)
  const { currency } = session
  const worth = (usd: string) => inCurrency(usd, currency)
  const winOf = (id: string, roundId: string, usd: string) => winIn(currency, id, roundId, usd)
  const partOf = (id: string, roundId: string) => ({ ...winOf(id, roundId, '1.00'), final: false }) as const

  for (let number = 1; !isOver(); number++) {
    const sent: TransactionBody[] = []
    const say = (body: TransactionBody) => {
      sent.push(body)
      return settle(body)
    }
    const id = (kind: string) => nameRequest(idStyle, `${kind}.${session.playerId}.${worker}`, number)
    const bet = (transaction_id: string, amount: string, round_id?: string) =>
      ({
        type: 'BET',
        transaction_id,
        session_id: session._id,
        amount: worth(amount),
        currency,
        ...(round_id === undefined ? {} : { round_id }),
      }) as const
    const back = (type: 'REFUND' | 'ROLLBACK', of: string, kind = type.toLowerCase()) =>
      ({ type, transaction_id: id(kind), reference_transaction_id: of }) as const

    const taken = await stakeFirst(bet(id('bet'), random.pick(['1.00', '3.33'])))
    if (typeof taken.body.round_id === 'string' && taken.body.status === 'SUCCESS') {
      const roundId = taken.body.round_id
      if (random.chance(0.25)) await say(bet(id('more'), '0.50', roundId))
      if (random.chance(0.2)) await say(partOf(id('first'), roundId))
      if (random.chance(0.45)) await severalAtOnce(roundId)
      else await oneAfterTheOther(roundId)
      if (random.chance(0.8)) await say(winOf(`end.${roundId}`, roundId, '0.00'))
    } else if (unknownCodes.includes(codeOf(taken) ?? '') && random.chance(0.6)) {
      await say(back('ROLLBACK', id('bet')))
    } else if (codeOf(taken) === 'ROUND_IN_PROGRESS') await endOpenRounds(deps, session.playerId)
    // The very same request once more, long after: the same record, or the same refusal.
    if (random.chance(0.2)) await settle(random.pick(sent))
    await rest()

    async function stakeFirst(stake: TransactionBody): Promise<Answer> {
      let answered = false
      const asking = say(stake).finally(() => (answered = true))
      if (!random.chance(impatience)) return asking
      const early = async () => {
        await timeline.wait(random.between(impatienceMs.least, impatienceMs.most))
        if (!answered) await say(back('ROLLBACK', stake.transaction_id, 'early'))
      }
      const [answer] = await Promise.all([asking, early()])
      return answer
    }

    async function oneAfterTheOther(roundId: string): Promise<void> {
      const kind = random.next()
      if (kind < 0.3) await say(winOf(id('win'), roundId, random.pick(['2.00', '6.66'])))
      else if (kind < 0.4) await say(partOf(id('part'), roundId))
      else if (kind < 0.55) await say(back('REFUND', id('bet')))
      else if (kind < 0.7) await say(back('ROLLBACK', id('bet')))
      else {
        await say(winOf(id('win'), roundId, '5.00'))
        await say(back('ROLLBACK', id('win')))
      }
    }

    async function severalAtOnce(roundId: string): Promise<void> {
      const side = bet(id('side'), '0.50', roundId)
      const refund = back('REFUND', id('bet'))
      const rollback = back('ROLLBACK', id('bet'))
      const part = partOf(id('part'), roundId)
      const win = winOf(id('win'), roundId, '2.00')
      const bodies = random.pick<TransactionBody[]>([
        [side, refund],
        [side, refund],
        [side, refund],
        [side, rollback],
        [side, win],
        [side, part, win],
        [part, win],
        [part, refund],
        [refund, rollback],
        [win, rollback],
        [side, bet(id('third'), '0.50', roundId), back('ROLLBACK', id('side'), 'unside'), refund],
      ])
      await Promise.all(
        bodies.map(async (body) => {
          await rest(0, togetherWithinMs)
          await say(body)
        }),
      )
    }
  }
}

/** Ends, as lost, the rounds that the operator's server has left open, under ids that it has not used yet. */
export async function endOpenRounds(deps: ClientDeps, playerId?: string): Promise<void> {
  const settle = settleWith(deps)
  const open = [...deps.world.rounds.table.values()].filter(
    ({ round }) =>
      round.driver === 'operator' &&
      round.status === 'OPEN' &&
      (playerId === undefined || round.playerId === playerId),
  )
  for (const { round } of open) {
    let times = 0
    while (deps.asked.has(`end.${round.id}.${times}`)) times += 1
    await settle(winIn(round.currency, `end.${round.id}.${times}`, round.id, '0.00'))
  }
}

/** Sends until the answer is final; some are sent several times at once. */
export function settleWith(deps: ClientDeps): (body: TransactionBody) => Promise<Answer> {
  const { asked } = deps
  const { bus, ask, perhapsDoubled } = createClient(deps)
  return (body) => {
    asked.add(body.transaction_id)
    return perhapsDoubled(() =>
      ask(
        { what: 'movement', id: body.transaction_id, asked: { ...body } },
        (context) =>
          bus.call(placeTransaction.call, { caller: operator, params: {}, query: {}, body }, context),
        (answer) => !isTransient(answer) && !unknownCodes.includes(codeOf(answer) ?? ''),
      ),
    )
  }
}

function winIn(currency: string, transactionId: string, roundId: string, usd: string) {
  const of = { transaction_id: transactionId, round_id: roundId }
  return { type: 'WIN', ...of, amount: inCurrency(usd, currency), currency, final: true } as const
}
