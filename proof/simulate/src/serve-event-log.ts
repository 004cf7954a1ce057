import { handler } from '@pitboss/bus/serve-calls'
import { showLoggedStake } from '@pitboss/contracts/calls/webhooks'
import { readLoggedEvent, standingInEvents } from '@pitboss/contracts/logged-stake'
import type { Machine } from './machine.ts'
import type { World } from './world.ts'

type AskedStake = { readonly roundId: string; readonly transactionId: string }

/** The bodies of events that speak of a stake or of its round. */
export function bodiesAbout({ events }: World['stream'], { roundId, transactionId }: AskedStake): string[] {
  const names = [roundId, `"${transactionId}"`]
  return events.flatMap(({ body }) => (names.some((name) => body.includes(name)) ? [body] : []))
}

/** What the events of the model's stream say of a stake. */
export function standingIn(stream: World['stream'], stake: AskedStake & { readonly since: Date }) {
  const events = bodiesAbout(stream, stake).flatMap((body) => readLoggedEvent(body) ?? [])
  return standingInEvents(events, stake)
}

/** Answers as webhooks what the events of the model's stream say of a stake; the stream has all of them. */
export function serveEventLog(machine: Machine, { bus, stream }: World): void {
  bus.serve(machine, [
    handler(showLoggedStake, async ({ roundId, transactionId, since }) => {
      const stake = { roundId, transactionId, since: new Date(since) }
      const standing = await machine.io('read events', () => standingIn(stream, stake))
      return { standing: standing === 'silent' ? 'not-taken' : standing }
    }),
  ])
}
