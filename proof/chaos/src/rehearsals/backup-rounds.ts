import { waitFor } from '@pitboss/testing/wait-for'
import { z } from 'zod'
import { checkRestored, nothingLost } from '../check/restored.ts'
import * as rows from '../check/rows.ts'
import { createVerdict } from '../check/verdict.ts'
import { watchDatabase } from '../check/watch-database.ts'
import { type Copy, copyDatabases, restoreDatabases } from '../faults/restored-database.ts'
import { createOperatorClient } from '../operator-client.ts'
import { allIsWell, openWorld, twoOfEach, type World } from './open-world.ts'
import type { Rehearsal, Step } from './rehearsal.ts'
import { watchDeliveries } from './watch-deliveries.ts'

const playMs = 8000
const endsWithinMs = 60_000

/** A backup of rounds comes back beside the money and the events as they are now. Source: docs/runbook.md. */
export const backupRounds: Rehearsal = {
  about: 'a backup of the database of rounds is restored beside the movements and events as they are',
  success: 'the backup was restored, and all that the runbook promises is there',
  async open(folder, cleanup) {
    const world = await openWorld(folder, cleanup, { replicas: twoOfEach })
    return {
      clients: world.clients,
      steps: [allIsWell(world, watchDeliveries(world.demo)), ...stepsOf(world)],
    }
  },
}

/** The database of rounds is behind everything: the runbook's steps, then its promises. */
function stepsOf(world: World): Step[] {
  const account = { operatorId: world.demo().operator_id, environment: 'TEST' } as const
  let copies: readonly Copy[] = []
  return [
    {
      name: 'the database of rounds is copied, and play goes on',
      async run() {
        copies = await copyDatabases(['rounds'], { product: world, note: () => undefined })
        await world.clients.playFor(playMs)
        return 'copied'
      },
    },
    {
      name: 'it is set back: consumer rewind, round reopened, round orphans',
      playIsOff: true,
      async run() {
        const verdict = createVerdict()
        const watch = watchDatabase(world.demo().engines.mongodb.url, verdict)
        await world.clients.end()
        try {
          const restored = await restoreDatabases(copies, {
            ...{ product: world, note: () => undefined, tenancies: [account], unsent: watch.unsent },
          })
          const part = restored.parts.get(`${account.operatorId}/SANDBOX`) ?? nothingLost(['rounds'])
          const from = `from=${encodeURIComponent(world.since)}`
          const operator = await createOperatorClient(world.demo(), world.demo().test)
          const read = async () => ({
            restored: part,
            rounds: z.array(rows.round).parse(await operator.all(`/rounds?${from}`)),
            movements: z.array(rows.movement).parse(await operator.all(`/transactions?${from}`)),
            events: z.array(rows.event).parse(await operator.all(`/events?${from}`)),
          })
          await waitFor(async () => (await read()).movements.every(({ status }) => status !== 'PENDING'), {
            ...{ timeoutMs: endsWithinMs, what: 'every movement to end' },
          })
          checkRestored(await read(), verdict)
        } finally {
          await watch.close()
        }
        const wrong = verdict.invariants().flatMap(({ violations }) => violations)
        if (wrong.length > 0) throw new Error(wrong.slice(0, 10).join('\n'))
        return verdict.invariants().map(({ name, checked }) => `${name}: ${checked} looked at`)
      },
    },
  ]
}
