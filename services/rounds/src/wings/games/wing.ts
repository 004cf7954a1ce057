import { requireApproved } from '@pitboss/bus/ask-approval'
import { answer, handler, handlers } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { doApproved } from '@pitboss/contracts/calls/approvals'
import { opsSetGame, opsSetGameLimits } from '@pitboss/contracts/calls/rounds'
import * as api from '@pitboss/contracts/endpoints/sessions'
import { answerPage } from '@pitboss/storage/read-page'
import { showGame } from '../../actions/offered-game.ts'
import { presentGame } from '../../records/present-offer.ts'
import type { Wing } from '../../wing.ts'
import { changeApprovedGame, changeGame, listGames, setGameLimits, setGameStatus } from './actions/games.ts'

/** The catalogue with an account's settings, and their changes. Source: docs/contract.md, section 3. */
export const games: Wing = {
  open: (context) => ({
    calls: [
      ...handlers([api.listGames.call, api.dashboardListGames.call], async ({ caller, query }) => {
        const { currencies } = caller.account
        return answerPage(await listGames(context, caller, query), (view) => presentGame(view, currencies))
      }),
      handler(api.getGame.call, async ({ caller: { account }, params }) =>
        answer(presentGame(await showGame(context, account.operator_id, params.slug), account.currencies)),
      ),
      ...handlers(
        [api.patchGame.call, api.dashboardPatchGame.call],
        async ({ caller, params, body }, call) => {
          const { account } = caller
          const asked = { account, slug: params.slug, patch: body }
          const view = await changeGame(context, asked, actedBy(caller, call), call)
          return answer(presentGame(view, account.currencies))
        },
      ),
      handler(doApproved.game, async (approved, call) => {
        const { order, seen, by } = approved
        await requireApproved({ order, seen, by }, { bus: context.bus, context: call })
        return { result: await changeApprovedGame(context, approved) }
      }),
      handler(opsSetGameLimits, async (asked, { requestId }) => ({
        slug: asked.slug,
        ...(await setGameLimits(context, asked, requestId)),
      })),
      handler(opsSetGame, async (asked, { requestId }) => {
        await setGameStatus(context, asked, requestId)
        return { slug: asked.slug, status: asked.status }
      }),
    ],
  }),
}
