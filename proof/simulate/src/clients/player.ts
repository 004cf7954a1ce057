import { cashOut, playRound, revealTile } from '@pitboss/contracts/endpoints/play'
import { voidRound } from '@pitboss/contracts/endpoints/rounds'
import { isUnfinished } from '@pitboss/rounds/rules/round'
import { sequenceKey } from '@pitboss/rounds/storage/round-document'
import type { SessionDocument } from '@pitboss/rounds/storage/sessions-store'
import { requestKey } from '@pitboss/chaos/check/requests'
import { inCurrency } from '@pitboss/chaos/in-currency'
import { type Answer, codeOf, isTransient } from '@pitboss/chaos/send'
import { nameRequest } from '../client-ids.ts'
import { scope } from '../world.ts'
import { callerOf, type ClientDeps, createClient, operator } from './client.ts'
import { createAskElsewhere } from './other-session.ts'

const tiles = 25
export const freeBetStake = '1.00'

/**
 * One tab of a player, who plays one game until the run's end: repeats, voids what hangs, leaves some mines
 * open. Two tabs know nothing of each other. @param freeBets how often a stake is a free bet
 */
export async function playGame(
  deps: ClientDeps,
  {
    session: first,
    tab,
    freeBets,
    other = null,
    goOn = async (session) => session,
  }: {
    session: SessionDocument
    tab: string
    freeBets: number
    /** Another session of the player in the game. */
    other?: SessionDocument | null
    /** Answers after each stake the session in which the player goes on. */
    goOn?: (session: SessionDocument, answer: Answer) => Promise<SessionDocument>
  },
): Promise<void> {
  const { random, world, idStyle } = deps
  const { bus, ask, rest, isOver, perhapsDoubled } = createClient(deps)
  const askElsewhere = createAskElsewhere(deps, first, other)
  let session = first
  const sequence = sequenceKey(scope, session.game, session.playerId)

  const openRound = () =>
    [...world.rounds.table.values()].find(
      ({ round }) => sequenceKey(round, round.game, round.playerId) === sequence && isUnfinished(round),
    )?.round

  for (let number = 1; !isOver(); number++) {
    const request = requestIn(session)
    // Pages of different players choose the same ids, and some that the operator's server uses.
    const kind = random.chance(0.1) ? 'bet.driver-1' : 'stake'
    const id = random.chance(0.7) ? nameRequest(idStyle, `${kind}.${tab}`, number) : null
    const free = random.chance(freeBets)
    const great = session.stakeCap === undefined || random.chance(0.2) ? ['2.37', '5.00'] : []
    const worth = free ? freeBetStake : random.pick(['0.50', '1.00', ...great])
    const stake = inCurrency(worth, session.currency)
    const bet =
      session.game === 'mines'
        ? { mines: random.pick([1, 5]) }
        : { target: random.pick(['50.00', '90.00']), direction: 'over' }
    const body = {
      stake,
      bet,
      client_seed: `s${tab}${number}`,
      ...(free ? { free_bet: true } : {}),
      ...(id === null ? {} : { transaction_id: id }),
    }
    const once = () =>
      ask(
        {
          ...{ what: 'stake', asked: body },
          id: id === null ? null : requestKey(session.playerId, session.game, id),
        },
        (context) => bus.call(playRound.call, { ...request, params: {}, body }, context),
        // Without an id of the client's own a repeat would be another stake. Of an early start the page waits.
        (given) => id === null || !isTransient(given) || codeOf(given) === 'RATE_LIMITED',
      )
    const answer = await (id === null ? once() : perhapsDoubled(once))
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
    // The very same request once more, long after: the same round, or the same refusal.
    if (id !== null && random.chance(0.1)) await once()
    await askElsewhere(id === null ? null : requestKey(session.playerId, session.game, id), body, answer)
    await rest()
    session = await goOn(session, answer)
  }

  async function openTiles(roundId: string): Promise<void> {
    const request = requestIn(session)
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

function requestIn({ _id }: SessionDocument) {
  return { caller: callerOf({ kind: 'session', session_id: _id }), query: {} }
}
