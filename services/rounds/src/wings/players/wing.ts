import { answer, handler } from '@pitboss/bus/serve-calls'
import { opsErasePlayer, opsPlayerData } from '@pitboss/contracts/calls/rounds'
import { getPlayer, listNonces } from '@pitboss/contracts/endpoints/players'
import { answerPage } from '@pitboss/storage/read-page'
import type { Wing } from '../../wing.ts'
import { erasePlayer, listNoncesOf, readPlayer, readPlayerData } from './actions/read-players.ts'

/** What people see of a player. Source: docs/contract.md, section 3, "Player"; docs/data.md. */
export const players: Wing = {
  open: (context) => ({
    calls: [
      handler(getPlayer.call, async ({ caller, params }) =>
        answer(await readPlayer(context, caller, params.player_id, context.clock.now())),
      ),
      handler(listNonces.call, async (asked) =>
        answerPage(await listNoncesOf(context, asked), (nonce) => nonce),
      ),
      handler(opsPlayerData, (asked) => readPlayerData(context, asked)),
      handler(opsErasePlayer, (asked, { requestId }) => erasePlayer(context, asked, requestId)),
    ],
  }),
}
