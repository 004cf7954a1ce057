import { type ConsumerInfo, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { Bus } from '@pitboss/bus/connect-bus'
import { stalledAfterMs } from '@pitboss/bus/watch-consumer'
import { opsListParked } from '@pitboss/contracts/calls/webhooks'

export type ConsumerView = {
  name: string
  stream: string
  pending: number
  ack_pending: number
  redelivered: number
  lag_s: number
  paused: boolean
  /** Messages wait, and none was acknowledged for 15 s. */
  stalled: boolean
  last_error: string | null
}

const parkedMax = 1000

/** Every durable consumer of every stream that holds events. Source: docs/contract.md, section 10. */
export async function viewConsumers(bus: Bus): Promise<ConsumerView[]> {
  const [manager, errors] = await Promise.all([jetstreamManager(bus.nc), lastErrors(bus)])
  const views: ConsumerView[] = []
  for await (const stream of manager.streams.list()) {
    if (stream.config.name.startsWith('KV_')) continue
    for await (const info of manager.consumers.list(stream.config.name)) {
      if (info.config.durable_name === undefined) continue
      const lag = await lagS(manager, info)
      views.push({
        name: info.name,
        stream: info.stream_name,
        pending: info.num_pending,
        ack_pending: info.num_ack_pending,
        redelivered: info.num_redelivered,
        lag_s: lag,
        paused: info.paused ?? false,
        stalled: lag * 1000 >= stalledAfterMs && sinceLastAckMs(info) >= stalledAfterMs,
        last_error: errors.get(info.name) ?? null,
      })
    }
  }
  return views
}

/** Age in whole seconds of the oldest message that is not acknowledged yet; 0 when there is none. */
async function lagS(manager: JetStreamManager, info: ConsumerInfo): Promise<number> {
  if (info.num_pending + info.num_ack_pending === 0) return 0
  const oldest = await manager.streams.getMessage(info.stream_name, { seq: info.ack_floor.stream_seq + 1 })
  return oldest === null ? 0 : Math.max(0, Math.floor((Date.now() - oldest.time.getTime()) / 1000))
}

/** Milliseconds since the consumer acknowledged a message, or was made. */
function sinceLastAckMs({ ack_floor: floor, created }: ConsumerInfo): number {
  return Date.now() - new Date(floor.last_active ?? created).getTime()
}

/** The newest parked message of each consumer tells what went wrong last. */
async function lastErrors(bus: Bus): Promise<Map<string, string>> {
  const { data } = await bus.call(opsListParked, { limit: parkedMax })
  const errors = new Map<string, string>()
  for (const { consumer, error } of data) if (!errors.has(consumer)) errors.set(consumer, error)
  return errors
}
