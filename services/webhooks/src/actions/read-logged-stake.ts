import { readStreamSince } from '@pitboss/bus/read-stream-since'
import { eventSubject, webhooksFanout } from '@pitboss/bus/topology'
import type { Scope } from '@pitboss/contracts/caller'
import type { StakeStanding } from '@pitboss/contracts/calls/rounds'
import { readLoggedEvent, standingInEvents } from '@pitboss/contracts/logged-stake'
import type { Deps } from './deps.ts'

const roundEventsMax = 200
/** Read by sequence in about a second. After an outage of wallet-bridge there are fewer. Source: ours. */
const messagesMax = 20_000

/** A stake that was asked for at `since`. */
type Stake = { readonly roundId: string; readonly transactionId: string; readonly since: Date }

/**
 * Creates the look for what events say of a stake: those that are recorded and, since this database may have
 * been set back as well, those of the stream. That nothing was said holds only where the stream reaches back.
 */
export function createReadLoggedStake({ events, bus }: Pick<Deps, 'events' | 'bus'>) {
  return async function readLoggedStake(scope: Scope, stake: Stake): Promise<StakeStanding> {
    const recorded = await events.ofRoundIn(scope, stake.roundId, roundEventsMax)
    const standing = standingOf(recorded.map(({ body }) => body))
    if (standing !== 'unknown') return standing
    const ofAccount = eventSubject(scope, '')
    const sent = await readStreamSince(bus, webhooksFanout.stream, {
      since: stake.since,
      max: messagesMax,
      isMeant: ({ subject, data }) => subject.startsWith(ofAccount) && mentions(data, stake.roundId),
    })
    if (sent === null) return 'unknown'
    const streamed = standingOf(sent.map(({ data }) => Buffer.from(data).toString('utf8')))
    return streamed === 'unknown' ? 'not-taken' : streamed

    function standingOf(bodies: readonly string[]): StakeStanding {
      return standingInEvents(
        bodies.flatMap((body) => readLoggedEvent(body) ?? []),
        stake,
      )
    }
  }
}

function mentions(data: Uint8Array, roundId: string): boolean {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).includes(roundId)
}
