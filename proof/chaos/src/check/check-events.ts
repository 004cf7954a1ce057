import { isDeepStrictEqual } from 'node:util'
import { checkEventData } from './check-event-data.ts'
import { groupBy } from './group.ts'
import { forgottenIds } from './restored.ts'
import type { Event, Movement, Received } from './rows.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  once: 'events: each is recorded once',
  fact: 'events: each fact is told exactly once',
  known: 'events: none tells of what does not exist',
  poller: 'events: a poller that follows its cursor misses none and meets none twice',
  delivery: 'deliveries: every event has one for the endpoint',
  arrived: 'deliveries: every event arrived, or is shown as failed or held',
  invented: 'deliveries: nothing arrives that was not recorded',
  signed: 'deliveries: every one verifies',
  bytes: 'deliveries: the body is the recorded envelope, the same bytes at every attempt',
  attempts: 'deliveries: no attempt number is used twice',
} as const

/**
 * The recorded events against movements and sessions, and, where they are followed, against what a poller met
 * and what the receiver got.
 */
export function checkEvents(
  sources: Sources,
  { polled, webhookId }: { polled: readonly string[] | null; webhookId: string | null },
  verdict: Verdict,
): void {
  const { events, sessions } = sources
  const ids = events.map(({ id }) => id)
  for (const [id, same] of groupBy(events, (event) => event.id)) {
    verdict.check(names.once, same.length === 1, () => `${id} is listed ${same.length} times`)
  }
  checkFacts(sources, verdict)
  checkEventData(sources, verdict)
  const opened = groupBy(
    events.filter(({ type }) => type === 'game.session.created'),
    ({ data }) => String(data.session_id),
  )
  for (const { session_id } of sessions) {
    const count = opened.get(String(session_id))?.length ?? 0
    verdict.check(names.fact, count === 1, () => `${String(session_id)} has ${count} game.session.created`)
  }
  if (webhookId !== null) checkDeliveries(sources, webhookId, verdict)
  if (polled === null) return
  // What a restored log has recorded anew is read again.
  const isRepeated = sources.restored?.services.includes('webhooks') === true
  const meets = isRepeated
    ? isDeepStrictEqual([...new Set(polled)].toSorted(), ids.toSorted())
    : isDeepStrictEqual(polled, ids)
  verdict.check(names.poller, meets, () => differenceOf(polled, ids))
}

/** Number of events of each type that each movement must have. */
export function checkFacts(
  sources: Pick<Sources, 'movements' | 'events' | 'ledger' | 'restored'>,
  verdict: Verdict,
): void {
  const { movements, events, ledger, restored } = sources
  const forgotten = forgottenIds(sources)
  const sent = new Set(ledger.map(({ transaction_id }) => transaction_id))
  const told = events.filter(({ type }) => type.startsWith('transaction.'))
  const own = groupBy(told, ({ data }) => String(data.transaction_id))
  const given = groupBy(
    told.filter(({ type }) => type === 'transaction.rollback'),
    ({ data }) => (typeof data.reference_transaction_id === 'string' ? data.reference_transaction_id : null),
  )
  const refused = movements.filter(({ status }) => status === 'FAILED')
  const failed = new Set<string | null>(refused.map(({ transaction_id }) => transaction_id))
  for (const movement of movements) {
    const { transaction_id: id, type, status, amount } = movement
    const types = (own.get(id) ?? []).map((event) => event.type.replace('transaction.', '')).toSorted()
    const rolledBack = given.get(id)?.length ?? 0
    // Only a zero credit that was sent is told of, and no rollback of a stake that was refused.
    const isZero = type === 'WIN' && Number(amount) === 0 && !sent.has(id)
    const silent = isZero || (type === 'ROLLBACK' && failed.has(movement.reference_transaction_id))
    // What is given back once more is told under the id of another rollback.
    const isGivenBackAgain = status === 'ROLLED_BACK' && restored?.movements.has(id) === true
    const right =
      isGivenBackAgain || forgotten.has(id) || matches({ type, status, silent, types, rolledBack })
    verdict.check(
      names.fact,
      right,
      () =>
        `${type} ${id} ${status} ${amount} has events [${types.join(', ')}], ${rolledBack} rollbacks name it`,
    )
    own.delete(id)
  }
  for (const [id, events_] of own) {
    if (forgotten.has(id)) continue
    verdict.check(
      names.known,
      false,
      () => `${id}: ${events_.map(({ type }) => type).join(', ')} of no movement`,
    )
  }
}

function matches({
  type,
  status,
  silent,
  types,
  rolledBack,
}: {
  type: Movement['type']
  status: Movement['status']
  silent: boolean
  types: string[]
  rolledBack: number
}): boolean {
  const are = (...wanted: string[]) => isDeepStrictEqual(types, wanted)
  if (silent) return are()
  if (status === 'FAILED') return are('failed') && rolledBack === 0
  if (type === 'ROLLBACK') return are('rollback')
  if (type === 'REFUND') return are('bet')
  const fact = type === 'BET' ? 'bet' : 'win'
  if (status === 'SUCCESS' || status === 'REFUNDED') return are(fact) && rolledBack === 0
  // Given back: by a movement of its own, or by the wallet's tombstone, where the event is the stake's own.
  return rolledBack === 1 && (are() || are(fact) || are('rollback') || are('bet', 'rollback'))
}

function checkDeliveries(
  { events, deliveries, received, restored }: Sources,
  webhookId: string,
  verdict: Verdict,
): void {
  const recorded = new Map(events.map((event) => [event.id, event]))
  const ours = groupBy(
    deliveries.filter(({ webhook_id }) => webhook_id === webhookId),
    ({ event_id }) => event_id,
  )
  const arrived = groupBy(received, ({ event_id }) => event_id)
  for (const id of recorded.keys()) {
    const own = ours.get(id) ?? []
    verdict.check(names.delivery, own.length === 1, () => `${id} has ${own.length} deliveries`)
    const status = own[0]?.status ?? 'none'
    const accepted = (arrived.get(id) ?? []).some(
      ({ verified, answered_status }) => verified && answered_status === 200,
    )
    const right = status === 'DELIVERED' ? accepted : status === 'FAILED' || status === 'HELD'
    verdict.check(
      names.arrived,
      right,
      () => `${id} is ${status}, ${accepted ? 'accepted' : 'never accepted'}`,
    )
  }
  const isRepeated = restored?.services.includes('webhooks') === true
  for (const [id, entries] of arrived) {
    checkArrived(id, entries, recorded.get(id), verdict)
    const attempts = entries.map(({ attempt }) => attempt)
    // The number of what was sent since the copy is lost with the database.
    const isNew = isRepeated || new Set(attempts).size === attempts.length
    verdict.check(names.attempts, isNew, () => `${id}: ${attempts.join(', ')}`)
  }
}

function checkArrived(id: string, entries: Received[], event: Event | undefined, verdict: Verdict): void {
  verdict.check(names.invented, event !== undefined, () => `${id} arrived and is not recorded`)
  const unverified = entries.find(({ verified }) => !verified)
  verdict.check(names.signed, unverified === undefined, () => `${id}: ${unverified?.reason}`)
  const bodies = new Set(entries.map(({ raw_body }) => raw_body))
  const [body = ''] = bodies
  const same = bodies.size === 1 && (event === undefined || isDeepStrictEqual(JSON.parse(body), event))
  verdict.check(
    names.bytes,
    same,
    () => `${id}: ${bodies.size} bodies, ${body}, recorded ${JSON.stringify(event)}`,
  )
}

function differenceOf(polled: readonly string[], ids: readonly string[]): string {
  const met = new Set(polled)
  const listed = new Set(ids)
  const missed = ids.filter((id) => !met.has(id))
  const extra = polled.filter((id) => !listed.has(id))
  const twice = polled.length - met.size
  const at = polled.findIndex((id, index) => id !== ids[index])
  return `${polled.length} polled, ${ids.length} listed; missed ${missed.slice(0, 5).join(' ')} (${missed.length}), extra ${extra.length}, twice ${twice}, first difference at ${at}`
}
