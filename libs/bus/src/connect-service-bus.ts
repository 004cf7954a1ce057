import type { ServiceHost } from '@pitboss/runtime/run-service'
import { type Bus, connectBus } from './connect-bus.ts'

/** Connects a service to NATS. Its process ends when the connection is over for good. */
export async function connectServiceBus({
  service,
  config,
  host,
}: {
  service: string
  config: { readonly NATS_URL: string; readonly NATS_NKEY_SEED?: string | undefined }
  host: Pick<ServiceHost, 'logger' | 'stopping' | 'fail'>
}): Promise<Bus> {
  const { logger } = host
  const bus = await connectBus({ url: config.NATS_URL, nkeySeed: config.NATS_NKEY_SEED, service, logger })
  void bus.closed.then(() => {
    if (!host.stopping.aborted) host.fail(new Error('the NATS connection is closed'))
  })
  return bus
}
