import type { DeliveryDocument } from './collections.ts'

/** The filter of these deliveries: by their ids, and by their endpoints, the shard key. */
export function namedTogether(named: readonly Pick<DeliveryDocument, '_id' | 'webhookId'>[]) {
  return {
    _id: { $in: named.map(({ _id }) => _id) },
    webhookId: { $in: [...new Set(named.map(({ webhookId }) => webhookId))] },
  }
}
