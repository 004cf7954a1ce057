import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from 'nats'

/**
 * Stands in for webhooks where it does not run: acknowledges every event, so that its entry is done.
 * @returns the function that ends it
 */
export async function acknowledgeEvents(nc: NatsConnection): Promise<() => Promise<void>> {
  const consumer = await jetstream(nc).consumers.get('EVENTS', 'webhooks-fanout')
  const messages = await consumer.consume()
  const work = async () => {
    for await (const message of messages) message.ack()
  }
  const done = work()
  return async () => {
    messages.stop()
    await done
  }
}
