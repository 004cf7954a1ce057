import type { Bus } from '@pitboss/bus/connect-bus'
import { opsRoundsBetween } from '@pitboss/contracts/calls/rounds'
import { opsMovementEvents } from '@pitboss/contracts/calls/wallet-ops'
import { opsMissingEvents } from '@pitboss/contracts/calls/webhooks'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { z } from 'zod'

/** An event that was never recorded, by its business key. */
export type MissingEvent = {
  readonly service: 'rounds' | 'wallet-bridge'
  readonly round_id: string
  readonly transaction_id: string | null
  readonly type: string
  readonly event_id: string
}

export type Audit = { readonly rounds: number; readonly missing: readonly MissingEvent[] }

const roundsAtOnce = 200
const askedAtOnce = 8
const eventsAtOnce = 1000

/**
 * Compares what the records of rounds and wallet-bridge say has ended with what webhooks has recorded, for
 * rounds that were created in the window. Source: docs/contract.md, section 10.
 * @param tell is told of each page
 */
export async function findMissingEvents(
  bus: Pick<Bus, 'call'>,
  window: { readonly from: string; readonly to: string },
  tell: (audit: Audit) => void = () => undefined,
): Promise<Audit> {
  const missing: MissingEvent[] = []
  let rounds = 0
  let after: string | null = null
  for (;;) {
    const page: z.infer<typeof opsRoundsBetween.reply> = await bus.call(opsRoundsBetween, {
      ...{ ...window, after, limit: roundsAtOnce },
    })
    const ended = await mapBounded(page.data, askedAtOnce, async ({ round_id: roundId, event_id: id }) => {
      const { data } = await bus.call(opsMovementEvents, { roundId })
      const round: MissingEvent = {
        ...{ service: 'rounds', round_id: roundId, transaction_id: null, type: 'round.completed' },
        event_id: id ?? '',
      }
      return [
        ...(id === null ? [] : [round]),
        ...data.map((movement) => ({ service: 'wallet-bridge', round_id: roundId, ...movement }) as const),
      ]
    })
    missing.push(...(await notRecorded(bus, ended.flat())))
    rounds += page.data.length
    tell({ rounds, missing })
    const last: string | undefined = page.data.at(-1)?.round_id
    if (page.data.length < roundsAtOnce || last === undefined) return { rounds, missing }
    after = last
  }
}

/** Those of the events that webhooks has not recorded. */
export async function notRecorded(
  bus: Pick<Bus, 'call'>,
  events: readonly MissingEvent[],
): Promise<MissingEvent[]> {
  const missing: MissingEvent[] = []
  for (let start = 0; start < events.length; start += eventsAtOnce) {
    const some = events.slice(start, start + eventsAtOnce)
    const asked = some.map(({ event_id, round_id }) => ({ event_id, round_id }))
    const { data } = await bus.call(opsMissingEvents, { events: asked })
    const absent = new Set(data)
    missing.push(...some.filter(({ event_id }) => absent.has(event_id)))
  }
  return missing
}
