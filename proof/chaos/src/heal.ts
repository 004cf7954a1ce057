import { setTimeout as delay } from 'node:timers/promises'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { readReceived } from './check/sources.ts'
import type { Verdict } from './check/verdict.ts'
import { endOpenRounds } from './clients/end-open-rounds.ts'
import type { Tenancy } from './open-tenancies.ts'
import { send } from './send.ts'

const name = 'life: everything heals and ends'
const everyMs = 250
const shownMax = 5

export type Healing = { readyMs: number; settledMs: number; deliveredMs: number }

/**
 * Waits until the product is ready, nothing is unfinished and every event is delivered; names the rest when
 * time is up.
 */
export async function heal({
  demo,
  tenancies,
  since,
  withinMs,
  unsent,
  isRefused,
  verdict,
  say,
}: {
  demo: DemoFile
  tenancies: readonly Pick<Tenancy, 'name' | 'operator' | 'receiver'>[]
  since: string
  withinMs: number
  /** Documents whose events the stream does not have yet. */
  unsent: () => Promise<string[]>
  /** Whether its endpoint never accepts the delivery. */
  isRefused: (delivery: Record<string, unknown>) => boolean
  verdict: Verdict
  say: (text: string) => void
}): Promise<Healing> {
  const window = `from=${encodeURIComponent(since)}`
  const fromMs = performance.now()
  const until = async (what: string, unfinished: () => Promise<string[]>) => {
    let left: string[] = ['nothing was answered']
    while (performance.now() - fromMs < withinMs) {
      left = await unfinished().catch((error: unknown) => [String(error)])
      if (left.length === 0) break
      await delay(everyMs)
    }
    const rest = () => `${left.length} left: ${left.slice(0, shownMax).join('; ')}`
    verdict.check(name, left.length === 0, () => `${what}: ${rest()}`)
    const tookMs = Math.round(performance.now() - fromMs)
    say(`${what}: ${left.length === 0 ? `after ${tookMs} ms` : `NOT within ${tookMs} ms, ${rest()}`}`)
    return tookMs
  }

  const readyMs = await until('ready again', async () => {
    const answer = await send('GET', `${demo.base_url}/readyz`)
    return answer.status === 200 ? [] : [JSON.stringify(answer.body)]
  })
  const settledMs = await until('every movement and round ended', async () => {
    const left: string[] = []
    for (const { name: tenancy, operator } of tenancies) {
      await endOpenRounds(operator)
      const pending = await operator.all(`/transactions?status=PENDING&${window}`)
      left.push(
        ...pending.map(
          (each) =>
            `${tenancy}: ${String(each.type)} ${String(each.transaction_id)} since ${String(each.created_at)}`,
        ),
      )
      for (const status of ['PENDING', 'OPEN', 'SETTLING']) {
        const rounds = await operator.all(`/rounds?status=${status}&${window}`)
        left.push(
          ...rounds.map(
            (each) =>
              `${tenancy}: ${String(each.round_id)} ${status} ${String(each.driver)} since ${String(each.created_at)}`,
          ),
        )
      }
    }
    return left
  })
  let known = -1
  const deliveredMs = await until('every event recorded and delivered', async () => {
    const accepted = new Set(
      (await readReceived(demo.receiver.url)).flatMap(({ verified, answered_status, event_id }) =>
        verified && answered_status === 200 && event_id !== null ? [event_id] : [],
      ),
    )
    const left = await unsent()
    let count = 0
    for (const { operator, receiver } of tenancies) {
      const events = (await operator.all(`/events?${window}`)).map((event) => String(event.id))
      count += events.length
      if (receiver === null) continue
      left.push(
        ...events
          .filter((id) => !accepted.has(id))
          .map((id) => `event ${id}, which no receiver has accepted`),
      )
      const deliveries = await operator.all(`/webhook-deliveries?status=PENDING&${window}`)
      const late = deliveries.filter((each) => !isRefused(each))
      left.push(
        ...late.map(
          (each) =>
            `delivery ${String(each.delivery_id)} of ${String(each.event_id)} to ${String(each.webhook_id)}, ` +
            `attempts ${String(each.attempt_count)}, next at ${String(each.next_attempt_at)}`,
        ),
      )
    }
    // The last events may still be on their way: two looks must see the same.
    if (left.length === 0 && known !== count) left.push('events are still being recorded')
    known = count
    if (left.length > 0) await delay(everyMs * 4)
    return left
  })
  return { readyMs, settledMs, deliveredMs }
}
