import type { AnyBulkWriteOperation, Db, Document } from 'mongodb'
import type { Logger } from 'pino'
import type { Keyring } from './keyring.ts'
import { createSecretBox, kidOf, type SecretBox } from './stored-secrets.ts'

/** A sealed text of a document. */
export type SealedValue = {
  /** Its field, with dots. */
  readonly path: string
  readonly sealed: string
  /** What it is bound to. */
  readonly aad: string
}

/** A kind of documents that hold sealed texts. Ids are strings. */
export type SealedPlace = {
  readonly collection: string
  /** The field that addresses a document beside its id, where there is one. */
  readonly shardKey?: string
  /** The purpose of the key that seals them. */
  readonly purpose: string
  /** The documents that can hold one. */
  readonly filter: Document
  /** An index by which `filter` finds few documents; else pages go by id. */
  readonly hint?: string
  /** The filter for a range of sealed texts. */
  readonly holding: (range: Document) => Document
  readonly valuesIn: (document: Document) => readonly SealedValue[]
}

type SealedFields = Pick<SealedPlace, 'collection' | 'shardKey' | 'purpose'> & {
  readonly filter?: Document
  /** Fields that each hold a sealed text or nothing, dotted where they are nested. */
  readonly paths: readonly string[]
  readonly aadOf: (document: Document) => string
}

/** The place of texts that documents hold in these fields. */
export function sealedFields({ paths, aadOf, filter = {}, ...place }: SealedFields): SealedPlace {
  return {
    ...{ ...place, filter },
    holding(range) {
      const [only = {}, ...others] = paths.map((path) => ({ [path]: range }))
      return others.length === 0 ? only : { $or: [only, ...others] }
    },
    valuesIn: (document) =>
      paths.flatMap((path) => {
        const sealed: unknown = path.split('.').reduce<Document>((part, name) => part?.[name], document)
        return typeof sealed === 'string' ? [{ path, sealed, aad: aadOf(document) }] : []
      }),
  }
}

/** Sealed texts that are renewed by rules of their own, as those of a journal are. */
export type SealedRecords<Sealed extends SealedRecord = SealedRecord> = {
  readonly collection: string
  readonly purpose: string
  /** About how many there are. */
  count(): Promise<number>
  /** At most `max` records after one; their ids name positions. */
  read(afterId: string, max: number): Promise<readonly Sealed[]>
  valuesIn(record: Sealed): readonly SealedValue[]
  /** Stores the renewed texts. False when others have changed the record since it was read. */
  rewrite(record: Sealed, renewed: Readonly<Record<string, string>>): Promise<boolean>
}

type SealedRecord = Document & { readonly _id: string }
type Place = SealedPlace | SealedRecords

export type SealPage = {
  keys: string[]
  documents: number
  looked: number
  rewritten: number
  values: Record<string, number>
  damaged: number
  next: string | null
}

export type RewriteSeals = ReturnType<typeof createRewriteSeals>

const pageSize = 500
const triesMax = 5
const searchMaxMs = 10_000
const keyIdsMax = 1000

/** Counts sealed values and seals them under the current master key, a page at a time. Source: ours. */
export function createRewriteSeals({
  db,
  keyring,
  places,
  logger,
}: {
  db: Db
  keyring: Keyring
  places: readonly Place[]
  logger: Pick<Logger, 'error'>
}) {
  const collectionOf = ({ collection }: Place) => db.collection<{ _id: string }>(collection)
  const boxes = new Map(places.map((place) => [place, createSecretBox(keyring, place.purpose)]))

  async function readPage(place: Place, afterId: string): Promise<readonly SealedRecord[]> {
    if ('read' in place) return place.read(afterId, pageSize)
    const hint = place.hint === undefined ? {} : { hint: place.hint }
    return collectionOf(place)
      .find({ $and: [place.filter, { _id: { $gt: afterId } }] }, hint)
      .sort({ _id: 1 })
      .limit(pageSize)
      .toArray()
  }

  /** One page; false when other writes changed what was read, which the next try sees. */
  async function tryPage(place: Place, afterId: string, isDry: boolean) {
    const box = boxes.get(place) ?? createSecretBox(keyring, place.purpose)
    const found = await readPage(place, afterId)
    const counts = newCounts()
    const renewals: Renewal[] = []
    for (const document of found) {
      const stale: Stale[] = []
      for (const value of place.valuesIn(document)) {
        const renewed = renew(box, keyring, value, isDry)
        if (renewed === null) {
          counts.damaged += 1
          logger.error({ collection: place.collection, id: document._id }, 'seal.damaged')
          continue
        }
        const kid = kidOf(renewed)
        counts.values.set(kid, (counts.values.get(kid) ?? 0) + 1)
        if (renewed !== value.sealed) stale.push({ value, renewed })
      }
      if (stale.length === 0) continue
      counts.rewritten += stale.length
      renewals.push({ document, stale })
    }
    return { found, counts, isWhole: await store(place, renewals) }
  }

  /** @returns false when one of them was changed since it was read */
  async function store(place: Place, renewals: readonly Renewal[]): Promise<boolean> {
    if (renewals.length === 0) return true
    if ('read' in place) {
      const stored = await Promise.all(
        renewals.map(({ document, stale }) =>
          place.rewrite(
            document,
            Object.fromEntries(stale.map(({ value, renewed }) => [value.path, renewed])),
          ),
        ),
      )
      return stored.every(Boolean)
    }
    const updates = renewals.map(({ document, stale }) => updateOf(place, document, stale))
    const { matchedCount } = await collectionOf(place).bulkWrite(updates, unordered)
    return matchedCount === updates.length
  }

  return {
    /**
     * @param after `next` of the page before; null for the first
     * @param isDry counts alone
     * @throws RangeError for an `after` that no page has named
     */
    async page({ after, isDry }: { after: string | null; isDry: boolean }): Promise<SealPage> {
      const { index, afterId } = readPosition(after)
      const place = places[index]
      if (place === undefined) throw new RangeError(`there is no page after ${after ?? ''}`)
      let page = await tryPage(place, afterId, isDry)
      for (let tries = 1; !page.isWhole && tries < triesMax; tries++) {
        const { rewritten } = page.counts
        page = await tryPage(place, afterId, isDry)
        page.counts.rewritten += rewritten
      }
      const { found, counts } = page
      const last = found.length < pageSize ? null : found.at(-1)
      const next = last == null ? nextPlace(index, places.length) : `${index}:${last._id}`
      return {
        keys: [...keyring.kids],
        documents: await countAll(),
        looked: found.length,
        rewritten: counts.rewritten,
        values: Object.fromEntries(counts.values),
        damaged: counts.damaged,
        next,
      }
    },

    /** Logs, as an error, each missing key under which documents of this database are still sealed. */
    async reportMissing(): Promise<void> {
      const written = await db.collection<{ _id: string }>('master_keys').find({}).limit(keyIdsMax).toArray()
      for (const { _id: kid } of written) {
        if (keyring.kids.includes(kid)) continue
        // "/" follows "." in ASCII.
        const range = { $gt: `v1.${kid}.`, $lt: `v1.${kid}/` }
        const sealed: string[] = []
        for (const place of places) {
          if ('read' in place) continue
          const filter = { $and: [place.filter, place.holding(range)] }
          const one = await collectionOf(place).findOne(filter, { maxTimeMS: searchMaxMs })
          if (one !== null) sealed.push(place.collection)
        }
        if (sealed.length > 0) logger.error({ key: kid, sealed, remedy }, 'master-key.missing')
      }
    },
  }

  async function countAll(): Promise<number> {
    const counted = await Promise.all(
      places.map((place) => {
        if ('read' in place) return place.count()
        return place.hint === undefined
          ? collectionOf(place).estimatedDocumentCount()
          : collectionOf(place).countDocuments(place.filter, { hint: place.hint })
      }),
    )
    return counted.reduce((sum, count) => sum + Number(count), 0)
  }
}

type Stale = { readonly value: SealedValue; readonly renewed: string }
type Renewal = { readonly document: SealedRecord; readonly stale: readonly Stale[] }

const unordered = { ordered: false }
const remedy = 'give this key again, after the current one, in PITBOSS_MASTER_KEYS; then ops seal rewrite'

function newCounts() {
  return { rewritten: 0, damaged: 0, values: new Map<string, number>() }
}

/** The value under the current key; itself in a dry run or under an unknown key, null for a damaged one. */
function renew(
  box: SecretBox,
  keyring: Keyring,
  { sealed, aad }: SealedValue,
  isDry: boolean,
): string | null {
  if (!keyring.kids.includes(kidOf(sealed))) return sealed
  try {
    const renewed = box.reseal(sealed, aad)
    return isDry ? sealed : renewed
  } catch {
    return null
  }
}

/** A write that does nothing when one of the values was changed since it was read. */
function updateOf(
  { shardKey }: SealedPlace,
  document: SealedRecord,
  stale: readonly Stale[],
): AnyBulkWriteOperation<{ _id: string }> {
  const expected = Object.fromEntries(stale.map(({ value }) => [value.path, value.sealed]))
  const renewed = Object.fromEntries(stale.map(({ value, renewed: text }) => [value.path, text]))
  // Who writes a whole document under its version has to read it again.
  const raised: Document = document.version === undefined ? {} : { $inc: { version: 1 } }
  const key = shardKey === undefined ? {} : { [shardKey]: document[shardKey] }
  const filter = { _id: document._id, ...key, ...expected }
  return { updateOne: { filter, update: { $set: renewed, ...raised } } }
}

function readPosition(after: string | null): { index: number; afterId: string } {
  const [, index = '0', afterId = ''] = /^(\d{1,3}):(.*)$/s.exec(after ?? '0:') ?? []
  return { index: Number(index), afterId }
}

function nextPlace(index: number, places: number): string | null {
  return index + 1 < places ? `${index + 1}:` : null
}
