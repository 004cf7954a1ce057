import { handler } from '@pitboss/bus/serve-calls'
import { showLoggedStake } from '@pitboss/contracts/calls/webhooks'
import { readLoggedEvent, standingInEvents } from '@pitboss/contracts/logged-stake'
import type { Machine } from './machine.ts'
import type { World } from './world.ts'

/** Answers as webhooks what the events of the model's stream say of a stake; the stream has all of them. */
export function serveEventLog(machine: Machine, { bus, stream }: World): void {
  bus.serve(machine, [
    handler(showLoggedStake, async ({ roundId, transactionId, since }) => {
      const bodies = await machine.io('read events', () => stream.events.map(({ body }) => body))
      const events = bodies
        .filter((body) => body.includes(roundId) || body.includes(`"${transactionId}"`))
        .flatMap((body) => readLoggedEvent(body) ?? [])
      const standing = standingInEvents(events, { roundId, transactionId, since: new Date(since) })
      return { standing: standing === 'silent' ? 'not-taken' : standing }
    }),
  ])
}
