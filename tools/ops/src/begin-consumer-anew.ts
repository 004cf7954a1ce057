import { setTimeout as delay } from 'node:timers/promises'
import { DeliverPolicy, jetstreamManager } from '@nats-io/jetstream'
import type { Bus } from '@pitboss/bus/connect-bus'

const askEveryMs = 50
const nanosPerMs = 1e6
/** After this the consumer goes on by itself, should this command end in between. */
const pauseBeyondMs = 10_000

/**
 * Begins a durable consumer again at `fromSeq`, under the same name: deletes it and makes it anew, which
 * every server can do. Messages that are at work are waited for, at most as long as the consumer waits for
 * them itself: servers take a late acknowledgement of the former consumer for one of the new, which then
 * leaves out what came before it. A server before 2.11 cannot hold back further messages meanwhile; there
 * nothing is waited for.
 */
export async function beginConsumerAnew(
  { nc }: Pick<Bus, 'nc'>,
  { stream, name, fromSeq }: { stream: string; name: string; fromSeq: number },
): Promise<void> {
  const { consumers } = await jetstreamManager(nc)
  const { config } = await consumers.info(stream, name)
  const { opt_start_time: _, ...kept } = config
  if (!/^2\.10\./.test(nc.info?.version ?? '')) {
    const untilMs = Date.now() + (config.ack_wait ?? 0) / nanosPerMs
    await consumers.pause(stream, name, new Date(untilMs + pauseBeyondMs))
    while ((await consumers.info(stream, name)).num_ack_pending > 0 && Date.now() < untilMs)
      await delay(askEveryMs)
  }
  await consumers.delete(stream, name)
  await consumers.add(stream, {
    ...kept,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: fromSeq,
  })
}
