import type { CallContext } from '@pitboss/contracts/call'
import type { Caller } from '@pitboss/contracts/caller'
import {
  cashOut,
  placeTransaction,
  playRound,
  revealTile,
  voidRound,
} from '@pitboss/contracts/endpoints/rounds'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { errorCatalogue } from '@pitboss/errors/catalogue'
import { ServiceError } from '@pitboss/errors/service-error'
import { chainKey } from '@pitboss/rounds/storage/round-document'
import { isUnfinished } from '@pitboss/rounds/domain/round'
import type { SessionDocument } from '@pitboss/rounds/storage/sessions-store'
import type { Answers, Told } from '../chaos/answers.ts'
import type { Random } from '../chaos/random.ts'
import { type Answer, codeOf, isTransient } from '../chaos/send.ts'
import { scope, type World } from './world.ts'

/** What the players and the operator's server of a run share. */
export type ClientDeps = {
  readonly world: World
  readonly random: Random
  readonly answers: Answers
  /** Ids that were sent by the operator's server. */
  readonly asked: Set<string>
  /** No new round begins after this instant. */
  readonly endsAtMs: number
}

type Reply = { readonly status: number; readonly body: object }

const unknownCodes = ['WALLET_TIMEOUT', 'WALLET_UNAVAILABLE']
const repeatsMax = 4
const tiles = 25

const account = {
  operator_id: scope.operatorId,
  name: 'Simulated',
  plan: 'free',
  approved: false,
  suspended: false,
  live_play: 'off',
  live_status: 'NONE',
  platform_real_money: false,
  currencies: ['USD'],
  timezone: 'UTC',
  brands: [],
} as const

function callerOf(actor: Caller['actor']): Caller {
  const rest = { eitherEnvironment: false, idempotencyKey: null, clientAddress: '127.0.0.1' }
  return { scope, account: { ...account, currencies: ['USD'], brands: [] }, actor, ...rest }
}

const operator = callerOf({ kind: 'credential', api_key: 'sim', scopes: [] })

function toolsOf({ world, random, answers, endsAtMs }: ClientDeps) {
  const { timeline, bus } = world
  const rest = (least = 20, most = 600) => timeline.wait(random.between(least, most))
  return {
    bus: bus.busOf({ after: (ms, then) => timeline.after(ms, then) }),
    rest,
    isOver: () => timeline.nowMs() >= endsAtMs,
    /** One request, repeated with the same meaning while its answer says nothing. */
    async ask(
      request: Pick<Told, 'what' | 'id' | 'asked'>,
      send: (context: CallContext) => Promise<Reply>,
      isFinal: (answer: Answer) => boolean = (answer) => !isTransient(answer),
    ): Promise<Answer> {
      for (let repeats = 0; ; repeats++) {
        const answer = await answerOf(send({ requestId: 'sim' }))
        world.trace(`${request.what} ${request.id} is answered ${answer.status} ${codeOf(answer) ?? ''}`)
        answers.add({ ...request, answer, token: '' })
        if (isFinal(answer) || repeats >= repeatsMax) return answer
        await rest()
      }
    },
  }
}

async function answerOf(sent: Promise<Reply>): Promise<Answer> {
  try {
    const { status, body } = await sent
    return { status, body: { ...body } }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, resource } = error
    return {
      status: errorCatalogue[code].status,
      body: { code, ...(resource === undefined ? {} : { resource: { ...resource } }) },
    }
  }
}

/** Plays one game until the run's end: repeats, voids what hangs, leaves some mines open. */
export async function playGame(deps: ClientDeps, session: SessionDocument): Promise<void> {
  const { random, world } = deps
  const { bus, ask, rest, isOver } = toolsOf(deps)
  const caller = callerOf({ kind: 'session', session_id: session._id })
  const chain = chainKey(scope, session.game, session.playerId)
  const request = { caller, query: {} }

  const openRound = () =>
    [...world.rounds.table.values()].find(
      ({ round }) => chainKey(round, round.game, round.playerId) === chain && isUnfinished(round),
    )?.round

  for (let number = 1; !isOver(); number++) {
    const id = random.chance(0.7) ? `stake.${session.playerId}.${number}` : null
    const stake = random.pick(['0.50', '1.00', '2.37', '5.00'])
    const bet =
      session.game === 'mines'
        ? { mines: random.pick([1, 5]) }
        : { target: random.pick(['50.00', '90.00']), direction: 'over' }
    const body = { stake, bet, client_seed: `s${number}`, ...(id === null ? {} : { transaction_id: id }) }
    const answer = await ask(
      { what: 'stake', id, asked: body },
      (context) => bus.call(playRound.call, { ...request, params: {}, body }, context),
      // Without an id of the client's own a repeat would be another stake.
      (given) => id === null || !isTransient(given),
    )
    const round = openRound()
    if (round !== undefined && answer.status !== 201 && random.chance(0.4)) {
      await ask({ what: 'action', id: round.id, asked: {} }, (context) =>
        bus.call(
          voidRound.call,
          { caller: operator, params: { round_id: round.id }, query: {}, body: undefined },
          context,
        ),
      )
    }
    if (round?.status === 'OPEN') await openTiles(round.id)
    await rest()
  }

  async function openTiles(roundId: string): Promise<void> {
    const params = { round_id: roundId }
    for (let left = random.between(1, 3); left > 0; left--) {
      const body = { tile: random.between(0, tiles - 1) }
      const answer = await ask({ what: 'action', id: roundId, asked: body }, (context) =>
        bus.call(revealTile.call, { ...request, params, body }, context),
      )
      if (answer.body.status !== 'OPEN') return
      await rest()
    }
    if (random.chance(0.2)) return
    await ask({ what: 'action', id: roundId, asked: {} }, (context) =>
      bus.call(cashOut.call, { ...request, params, body: undefined }, context),
    )
  }
}

/** An operator's server that drives rounds of its own: stakes, wins, refunds, rollbacks, some at once. */
export async function driveRounds(deps: ClientDeps, session: SessionDocument): Promise<void> {
  const { random } = deps
  const { rest, isOver } = toolsOf(deps)
  const settle = settleWith(deps)

  for (let number = 1; !isOver(); number++) {
    const id = (kind: string) => `${kind}.${session.playerId}.${number}`
    const bet = (transaction_id: string, amount: string, round_id?: string) =>
      ({
        type: 'BET',
        transaction_id,
        session_id: session._id,
        amount,
        currency: 'USD',
        ...(round_id === undefined ? {} : { round_id }),
      }) as const
    const back = (type: 'REFUND' | 'ROLLBACK', of: string) =>
      ({ type, transaction_id: id(type.toLowerCase()), reference_transaction_id: of }) as const
    const taken = await settle(bet(id('bet'), random.pick(['1.00', '3.33'])))
    if (typeof taken.body.round_id === 'string' && taken.body.status === 'SUCCESS') {
      const roundId = taken.body.round_id
      if (random.chance(0.25)) await settle(bet(id('more'), '0.50', roundId))
      const kind = random.next()
      if (kind < 0.3) await settle(winOf(id('win'), roundId, random.pick(['2.00', '6.66'])))
      else if (kind < 0.4) await settle({ ...winOf(id('part'), roundId, '1.00'), final: false })
      else if (kind < 0.55) await settle(back('REFUND', id('bet')))
      else if (kind < 0.7) await settle(back('ROLLBACK', id('bet')))
      else if (kind < 0.85) {
        await Promise.all([settle(back('REFUND', id('bet'))), settle(back('ROLLBACK', id('bet')))])
      } else {
        await settle(winOf(id('win'), roundId, '5.00'))
        await settle(back('ROLLBACK', id('win')))
      }
      if (random.chance(0.8)) await settle(winOf(`end.${roundId}`, roundId, '0.00'))
    } else if (unknownCodes.includes(codeOf(taken) ?? '') && random.chance(0.6)) {
      await settle(back('ROLLBACK', id('bet')))
    } else if (codeOf(taken) === 'ROUND_IN_PROGRESS') await endOpenRounds(deps, session.playerId)
    await rest()
  }
}

/** Ends, as lost, the rounds that the operator's server has left open. */
export async function endOpenRounds(deps: ClientDeps, playerId?: string): Promise<void> {
  const settle = settleWith(deps)
  const open = [...deps.world.rounds.table.values()].filter(
    ({ round }) =>
      round.driver === 'operator' &&
      round.status === 'OPEN' &&
      (playerId === undefined || round.playerId === playerId),
  )
  for (const { round } of open) await settle(winOf(`end.${round.id}`, round.id, '0.00'))
}

/** Sends until the answer is final; some are sent three times at once. */
function settleWith(deps: ClientDeps): (body: TransactionBody) => Promise<Answer> {
  const { random, asked } = deps
  const { bus, ask } = toolsOf(deps)
  return async (body) => {
    asked.add(body.transaction_id)
    const once = () =>
      ask(
        { what: 'movement', id: body.transaction_id, asked: { ...body } },
        (context) =>
          bus.call(placeTransaction.call, { caller: operator, params: {}, query: {}, body }, context),
        (answer) => !isTransient(answer) && !unknownCodes.includes(codeOf(answer) ?? ''),
      )
    const [first] = await Promise.all(Array.from({ length: random.chance(0.1) ? 3 : 1 }, once))
    if (first === undefined) throw new Error('nothing was sent')
    return first
  }
}

function winOf(transactionId: string, roundId: string, amount: string) {
  const of = { transaction_id: transactionId, round_id: roundId }
  return { type: 'WIN', ...of, amount, currency: 'USD', final: true } as const
}
