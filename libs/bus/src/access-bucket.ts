import { jetstream } from '@nats-io/jetstream'
import { Kvm } from '@nats-io/kv'
import type { Bus } from './connect-bus.ts'
import { accessBucket } from './topology.ts'

/** The entry that auth writes every second; its silence makes gateways refuse tokens. */
export const heartbeatKey = 'heartbeat'

const putTimeoutMs = 2000

export type AccessBucket = {
  /**
   * Tells every gateway that what `key` names has changed. Resolves with the revision once stored.
   * @throws within 2 s.
   */
  put(key: string, value: unknown): Promise<number>
  /** One beat; to be written every second. */
  heartbeat(): Promise<void>
}

/**
 * The writing side of the access bucket, for auth alone. Keys are `credential.<api_key>`, `user.<id>` and the
 * like.
 */
export async function createAccessBucket({ bus }: { bus: Bus }): Promise<AccessBucket> {
  const kv = await new Kvm(jetstream(bus.nc, { timeout: putTimeoutMs })).open(accessBucket)
  const put = async (key: string, value: unknown) => {
    if (!bus.connected()) throw new Error(`not connected to NATS: ${key} was not written`)
    return kv.put(key, JSON.stringify(value))
  }
  return {
    put,
    async heartbeat() {
      await put(heartbeatKey, { at: new Date().toISOString() })
    },
  }
}
