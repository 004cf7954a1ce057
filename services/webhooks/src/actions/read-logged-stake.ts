import { readStreamSince } from '@pitboss/bus/read-stream-since'
import { eventSubject, webhooksFanout } from '@pitboss/bus/topology'
import type { Scope } from '@pitboss/contracts/caller'
import type { StakeStanding } from '@pitboss/contracts/calls/rounds'
import { readLoggedEvent, standingInEvents } from '@pitboss/contracts/logged-stake'
import type { WebhooksContext } from '../context.ts'

const roundEventsMax = 200
/** Read by sequence in about a second. After an outage of wallet-bridge there are fewer. Source: ours. */
const messagesMax = 20_000

type Stake = { readonly roundId: string; readonly transactionId: string; readonly since: Date }

/**
 * Reads what events say of a stake: those that are recorded and, since this database may have been set back
 * as well, those of the stream. That nothing was said holds only where the stream reaches back.
 */
export async function readLoggedStake(
  { events, bus }: Pick<WebhooksContext, 'events' | 'bus'>,
  scope: Scope,
  stake: Stake,
): Promise<StakeStanding> {
  const standingOf = (bodies: readonly string[]): StakeStanding | 'silent' =>
    standingInEvents(
      bodies.flatMap((body) => readLoggedEvent(body) ?? []),
      stake,
    )
  const recorded = await events.ofRound(scope, stake.roundId, roundEventsMax)
  const standing = standingOf(recorded.map(({ body }) => body))
  if (standing !== 'silent') return standing
  const ofAccount = eventSubject(scope, '')
  const sent = await readStreamSince(bus, webhooksFanout.stream, {
    since: stake.since,
    max: messagesMax,
    isMeant: ({ subject, data }) => subject.startsWith(ofAccount) && mentions(data, stake),
  })
  if (sent === null) return 'unknown'
  const streamed = standingOf(sent.map(({ data }) => Buffer.from(data).toString('utf8')))
  return streamed === 'silent' ? 'not-taken' : streamed
}

function mentions(data: Uint8Array, { roundId, transactionId }: Stake): boolean {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return bytes.includes(roundId) || bytes.includes(`"${transactionId}"`)
}
