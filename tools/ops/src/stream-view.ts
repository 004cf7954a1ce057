import { jetstreamManager } from '@nats-io/jetstream'
import type { Bus } from '@pitboss/bus/connect-bus'
import { eventsStream } from '@pitboss/bus/topology'

/** Less room than this in bytes, and most events do not fit any more. Source: ours. */
const leastRoom = 8192

export type StreamView = {
  name: string
  messages: number
  bytes: number
  /** Null for no bound. */
  max_bytes: number | null
  /** It takes no more events: new play is refused, and what has happened waits in the journals. */
  full: boolean
}

/** How full the stream of events is. Source: docs/contract.md, section 10. */
export async function viewEventsStream(bus: Bus): Promise<StreamView> {
  const manager = await jetstreamManager(bus.nc)
  const { config, state } = await manager.streams.info(eventsStream.name)
  const { messages, bytes } = state
  const most = config.max_bytes > 0 ? config.max_bytes : null
  return {
    ...{ name: config.name, messages, bytes, max_bytes: most },
    full: most !== null && most - bytes < leastRoom,
  }
}
