import { createApplyMessage } from '@pitboss/wallet-bridge/actions/apply-message'
import { createResolveByPerson } from '@pitboss/wallet-bridge/actions/operate-movements'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import { z } from 'zod'
import type { Machine } from './machine.ts'
import { createRelay } from './model-stream.ts'
import type { World } from './world.ts'

const takenEvent = z.object({
  type: z.literal('transaction.bet'),
  data: z.object({ transaction_id: z.string() }),
})

/**
 * The word of a person about the stakes that rounds does not know: taken are those of which an event tells.
 * Source: docs/runbook.md, "A restored backup".
 */
export async function endDoubts(machine: Machine, world: World): Promise<void> {
  const { movements: model, stream, scaleMs, newId } = world
  const movements = model.storeOf(machine)
  const outbox = createRelay({
    ...{ machine, stream, takeOut: model.takeOut },
    pendingOf: (id) => model.table.get(id)?.outbox ?? [],
  })
  const deps = { movements, outbox, clock: { now: machine.now }, scaleMs, newId }
  const resolve = createResolveByPerson({
    ...{ ...deps, apply: createApplyMessage(deps) },
    audit: { entry: () => sampleAuditEntry() },
  })
  const events = stream.events.map(({ body }) => takenEvent.safeParse(JSON.parse(body)).data)
  const taken = new Set(events.map((event) => event?.data.transaction_id))
  const doubted = [...model.table.values()].filter(
    ({ status, inDoubt, reversal, call }) =>
      status === 'PENDING' && inDoubt === true && reversal === null && call === null,
  )
  for (const stake of doubted) {
    const as = taken.has(stake.transactionId) ? 'success' : 'failed'
    await resolve(stake, as, { by: 'operations', reason: null, dryRun: false }, 'sim')
  }
}
