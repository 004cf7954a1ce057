import { toldWin } from '@pitboss/contracts/told-win'
import { createApplyMessage } from '@pitboss/wallet-bridge/actions/apply-message'
import { createHealMovements } from '@pitboss/wallet-bridge/actions/heal-movements'
import { createResolveByPerson } from '@pitboss/wallet-bridge/actions/operate-movements'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { walletsOf } from './bridge-process.ts'
import type { Machine } from './machine.ts'
import { createRelay } from './model-stream.ts'
import { bodiesAbout, standingIn } from './serve-event-log.ts'
import { scope, type World } from './world.ts'

/**
 * The work of operations on stakes in doubt, `ops movement restored --heal` by the real actions: each ends as
 * events tell, after the wins that they tell of are written again. Source: docs/runbook.md, "A restored
 * backup".
 */
export async function endDoubts(machine: Machine, world: World): Promise<void> {
  const { movements: model, stream, scaleMs, newId } = world
  const movements = model.storeOf(machine)
  const outbox = createRelay({
    ...{ machine, stream, takeOut: model.takeOut },
    pendingOf: (id) => model.table.get(id)?.outbox ?? [],
  })
  const clock = { now: machine.now }
  const deps = { movements, outbox, clock, scaleMs, newId }
  const apply = createApplyMessage(deps)
  const audit = { entry: () => sampleAuditEntry() }
  const resolve = createResolveByPerson({ ...deps, apply, audit })
  const heal = createHealMovements({
    ...{ movements, wallets: walletsOf(machine), apply, audit, clock, newId },
  })
  const order = { by: 'operations', reason: null, dryRun: false }
  const doubted = [...model.table.values()].filter(
    ({ status, inDoubt, reversal, call }) =>
      status === 'PENDING' && inDoubt === true && reversal === null && call === null,
  )
  for (const stake of doubted) {
    const standing = standingIn(stream, { ...stake, since: stake.createdAt })
    if (standing === 'unknown') continue
    const isTaken = standing === 'taken'
    if (isTaken && stake.driver === 'game') {
      const movements = bodiesAbout(stream, stake).flatMap(
        (body) => toldWin(JSON.parse(body), stake.game) ?? [],
      )
      await heal({ order, scope, movements }, 'sim')
    }
    await resolve(stake, isTaken ? 'success' : 'failed', order, 'sim')
  }
}
