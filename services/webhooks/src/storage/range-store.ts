import { type Scope, scopeOf } from '@pitboss/contracts/caller'
import { createInsertTogether } from '@pitboss/storage/journal/insert-together'
import type { Filter } from 'mongodb'
import { type NextRange, rangeSpanMsMax } from '../rules/passage.ts'
import type { Collections, DeliveryDocument, EventHeader, RangeDocument } from './collections.ts'
import { isRare } from './log-append.ts'
import { seqMax, seqText } from './log-keys.ts'
import { packItems } from './range-items.ts'

const removedTogether = 500
/** Of a range and of each of its items, about; an excerpt of a receiver's answer has at most 2 KB. */
const rangeBytes = 300
const itemBytes = 500

/** A delivery that was accepted at its first attempt. */
export type AcceptedDelivery = Pick<EventHeader, 'createdAt'> & {
  readonly eventId: string
  readonly eventType: EventHeader['type']
  readonly attempt: DeliveryDocument['attempts'][number]
}

type Wanted = { scope: Scope; from: Date; to: Date } & Pick<DeliveryDocument, 'webhookId' | 'eventType'>
/** Where to look for items. Null for everything. @param from made then or later @param to then or earlier */
type ItemFilter = { readonly [Field in keyof Wanted]: Wanted[Field] | null }

type Owner = Scope & { readonly _id: string }
type Write = Pick<RangeDocument, 'w' | 'at'>

export type RangeStore = ReturnType<typeof createRangeStore>

const rangeKey = (webhookId: string, first: number) => `${webhookId}/${seqText(first)}`

export function createRangeStore({ ranges }: Pick<Collections, 'ranges'>) {
  const insertTogether = createInsertTogether(ranges, ({ d = [] }) => rangeBytes + itemBytes * d.length)
  const ofEndpoint = (webhookId: string, from = 0, to = seqMax) => ({
    $gte: rangeKey(webhookId, from),
    $lte: rangeKey(webhookId, to),
  })

  /** The last range of the endpoint that begins at `seq` or before; null for none. */
  const lastUpTo = (webhookId: string, seq: number) =>
    ranges.findOne({ _id: ofEndpoint(webhookId, 0, seq) }, { sort: { _id: -1 } })

  return {
    /** The number of the last event that the endpoint has passed; null for none. */
    async endOf(webhookId: string): Promise<number | null> {
      const newest = { sort: { _id: -1 }, projection: { to: 1 } } as const
      return (await ranges.findOne({ _id: ofEndpoint(webhookId) }, newest))?.to ?? null
    },

    /** Inserts the next range. @param w names this write for a repeat @returns false when it is not next */
    async insert(endpoint: Owner, { first, to, items }: NextRange<AcceptedDelivery>, { w, at }: Write) {
      const { _id: webhookId } = endpoint
      const _id = rangeKey(webhookId, first)
      const range = { _id, webhookId, ...scopeOf(endpoint), to, w, at, ...packItems(first, items) }
      const [landed] = await insertTogether([range])
      return landed === 'inserted' || (await ranges.findOne({ _id }, { projection: { w: 1 } }))?.w === w
    },

    /** The range that has passed this event; null while none has. */
    async passing(webhookId: string, seq: number): Promise<RangeDocument | null> {
      const found = await lastUpTo(webhookId, seq)
      return found !== null && found.to >= seq ? found : null
    },

    async between(webhookId: string, from: number, to: number): Promise<RangeDocument[]> {
      const later = ranges.find({ _id: ofEndpoint(webhookId, from + 1, to) }, { sort: { _id: 1 } }).toArray()
      const [before, others] = await Promise.all([lastUpTo(webhookId, from), later])
      return [...(before === null ? [] : [before]), ...others].filter((range) => range.to >= from)
    },

    /** Ranges that may have items of the filter, that with the newest item first. */
    newestFirst({ scope, webhookId, eventType, from, to }: ItemFilter) {
      const rare = eventType !== null && eventType !== 'webhook.test' && isRare(eventType) ? eventType : null
      const latest = to === null ? {} : { $lte: new Date(to.getTime() + rangeSpanMsMax) }
      const filter: Filter<RangeDocument> = {
        ...(scope === null ? {} : scopeOf(scope)),
        ...(webhookId === null ? {} : { webhookId }),
        ...(rare === null || scope === null ? {} : { x: rare }),
        hi: { $gte: from ?? new Date(1), ...latest },
        ...(to === null ? {} : { lo: { $lte: to } }),
      }
      const plain = webhookId === null ? 'list' : 'list_webhook'
      const hint = rare !== null && scope !== null ? 'list_rare' : plain
      return ranges.find(filter, { sort: { hi: -1 }, hint })
    },

    latestStored: () => ranges.find({ hi: { $gte: new Date(1) } }, { sort: { at: -1 }, hint: 'stored' }),

    /** Ranges of the scope that may have an item of a delivery made at one of these times. */
    async madeAt(scope: Scope, times: readonly Date[]): Promise<RangeDocument[]> {
      const around = times.map((at) => ({
        ...scopeOf(scope),
        hi: { $gte: at, $lte: new Date(at.getTime() + rangeSpanMsMax) },
        lo: { $lte: at },
      }))
      return around.length === 0 ? [] : ranges.find({ $or: around }).toArray()
    },

    async hasItems(scope: Scope): Promise<boolean> {
      const ofScope = { ...scopeOf(scope), hi: { $gte: new Date(1) } }
      return (await ranges.findOne(ofScope, { projection: { _id: 1 }, hint: 'list' })) !== null
    },

    storedSince: (from: Date) =>
      ranges.find({ at: { $gte: from }, hi: { $gte: new Date(1) } }, { sort: { at: 1 }, hint: 'stored' }),

    /** Removes ranges beyond a log that was set back further. @returns how many it removed */
    async removeAfter(webhookId: string, end: number): Promise<number> {
      const beyond = { _id: ofEndpoint(webhookId), to: { $gt: end } }
      const found = await ranges.find(beyond, { projection: { _id: 1 } }).toArray()
      for (let start = 0; start < found.length; start += removedTogether) {
        const ids = found.slice(start, start + removedTogether).map(({ _id }) => _id)
        await ranges.deleteMany({ _id: { $in: ids } })
      }
      return found.length
    },
  }
}
