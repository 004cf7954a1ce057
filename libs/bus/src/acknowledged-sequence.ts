import { jetstreamManager } from '@nats-io/jetstream'
import type { Bus } from './connect-bus.ts'

/**
 * The stream sequence up to which a durable consumer has everything behind it; greater than any when nothing
 * is left for it. What has aged out of the stream holds it up no more than what its filter leaves out.
 */
export async function acknowledgedSequence(bus: Bus, stream: string, consumer: string): Promise<number> {
  const manager = await jetstreamManager(bus.nc, { checkAPI: false })
  const info = await manager.consumers.info(stream, consumer)
  const isIdle = info.num_pending === 0 && info.num_ack_pending === 0
  return isIdle ? Number.MAX_SAFE_INTEGER : info.ack_floor.stream_seq
}
