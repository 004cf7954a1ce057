import { answer, type CallHandler, handler, handlers } from '@pitboss/bus/serve-calls'
import { personActing } from '@pitboss/contracts/audit'
import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import * as play from '@pitboss/contracts/endpoints/play'
import * as api from '@pitboss/contracts/endpoints/sessions'
import { answerPage } from '@pitboss/storage/read-page'
import { playRound } from '../actions/play-round.ts'
import * as page from '../actions/player-page.ts'
import { showFirst } from '../actions/read-rounds.ts'
import { closeSession, findSession, listSessions, openSession } from '../actions/sessions.ts'
import type { PlayContext, RoundsContext } from '../context.ts'
import { presentSession } from '../records/present-session.ts'
import { presentFairness, presentRound } from '../records/present-round.ts'

/** Calls of operators about sessions. Source: docs/contract.md, sections 4 and 11. */
export function sessionCalls(context: RoundsContext): CallHandler[] {
  const { clock } = context
  return [
    handler(api.createSession.call, async ({ caller, body }) =>
      answer(presentSession(await openSession(context, caller, body), clock.now()), 201),
    ),
    ...handlers([api.listSessions.call, api.dashboardListSessions.call], async ({ caller, query }) => {
      const now = clock.now()
      return answerPage(await listSessions(context, caller, query, now), (one) => presentSession(one, now))
    }),
    ...handlers([api.getSession.call, api.dashboardGetSession.call], async ({ caller, params }) =>
      answer(presentSession(await findSession(context, caller, params.session_id), clock.now())),
    ),
    ...handlers([api.closeSession.call, api.dashboardCloseSession.call], async ({ caller, params }, call) => {
      const acting = { now: clock.now(), by: personActing(caller, call) }
      const session = await closeSession(context, caller, params.session_id, acting)
      return answer(presentSession(session, acting.now))
    }),
    handler(currenciesInUse, async ({ operatorId }) => ({
      currencies: await context.sessions.currenciesInUse(operatorId, clock.now()),
    })),
  ]
}

/** Calls of a player's browser, under `/v1/game`. Source: docs/contract.md, sections 4 and 11. */
export function playerCalls(context: RoundsContext & PlayContext): CallHandler[] {
  const shown = (run: () => ReturnType<typeof playRound>, status?: 201) =>
    showFirst(context, async () => answer(presentRound(await run()), status))
  return [
    handler(play.getPlayerSession.call, async (asked, call) =>
      answer(await page.showPlayer(context, asked.caller, call)),
    ),
    handler(play.listPlayerRounds.call, async ({ caller, query }) =>
      answerPage(await page.listPlayerRounds(context, caller, query), presentRound),
    ),
    handler(play.getPlayerRound.call, async ({ caller, params }) => {
      const player = await page.findPlayer(context, caller)
      const { round } = await page.findPlayerRound(context, player, params.round_id)
      await context.rounds.show(round.id)
      return answer(presentRound(round))
    }),
    handler(play.playRound.call, ({ caller, body }, call) =>
      shown(() => playRound(context, caller, body, call), 201),
    ),
    handler(play.revealTile.call, ({ caller, params: { round_id }, body: { tile } }, call) =>
      shown(() => page.actOnRound(context, caller, round_id, { type: 'reveal', tile }, call)),
    ),
    handler(play.cashOut.call, ({ caller, params: { round_id } }, call) =>
      shown(() => page.actOnRound(context, caller, round_id, { type: 'cash-out' }, call)),
    ),
    handler(play.getFairnessBook.call, async ({ caller, query }) =>
      answerPage(await page.listFairness(context, caller, query), presentFairness),
    ),
  ]
}
