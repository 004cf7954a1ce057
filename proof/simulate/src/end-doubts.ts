import { toldWin } from '@pitboss/contracts/told-win'
import { healMovements } from '@pitboss/wallet-bridge/actions/operate-movements'
import { resolveByPerson } from '@pitboss/wallet-bridge/actions/operate-movements'
import type { Settlement } from '@pitboss/wallet-bridge/context'
import { bodiesAbout, standingIn } from './serve-event-log.ts'
import { scope, type World } from './world.ts'

/**
 * The work of operations on stakes in doubt, `ops movement restored --heal` by the real actions: each ends as
 * the events show, after the wins that they show are written again. Where they do not decide, it ends as the
 * wallet has it.
 * Source: docs/runbook.md, "A restored backup".
 */
export async function endDoubts(
  { movements: model, stream, wallet }: Pick<World, 'movements' | 'stream' | 'wallet'>,
  settlement: Settlement,
): Promise<void> {
  const order = { by: 'operations', reason: null, dryRun: false }
  const doubted = [...model.table.values()].filter(
    ({ status, inDoubt, reversal, call }) =>
      status === 'PENDING' && inDoubt === true && reversal === null && call === null,
  )
  for (const stake of doubted) {
    const standing = standingIn(stream, { ...stake, since: stake.createdAt })
    const isTaken = standing === 'taken' || (standing === 'unknown' && wallet.hasDone(stake))
    if (isTaken && stake.driver === 'game') {
      const movements = bodiesAbout(stream, stake).flatMap(
        (body) => toldWin(JSON.parse(body), stake.game) ?? [],
      )
      await healMovements(settlement, { order, scope, movements }, 'sim')
    }
    await resolveByPerson(settlement, stake, { as: isTaken ? 'success' : 'failed', order }, 'sim')
  }
}
