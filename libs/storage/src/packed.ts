import { deflateSync, inflateSync } from 'node:zlib'
import { BSON, type Binary, type Document } from 'mongodb'
import { firstDocuments } from './packed-1.ts'

const { Binary: BinaryValue, EJSON } = BSON

/** By it a document of 2 KB packs to a third; a zlib stream names its dictionary by checksum (RFC 1950). */
const dictionary = Buffer.concat(firstDocuments.map((text) => BSON.serialize(EJSON.parse(text))))

/** Buffers of 16 KB, Node's default, take a quarter of the time that packing does. */
const options = { dictionary, chunkSize: 4096 }

/** Packs fields that no filter, index or projection names: BSON in a zlib stream. Source: ours. */
export function pack(fields: Document): Binary {
  return new BinaryValue(deflateSync(BSON.serialize(fields, { ignoreUndefined: true }), options))
}

/**
 * @returns the fields, as the driver would read them
 * @throws Error where the bytes are damaged
 */
export function unpack(packed: Binary): Document {
  return BSON.deserialize(inflateSync(packed.value(), options), {
    useBigInt64: true,
  })
}

/** A document of which those fields stand plain that filters, indexes or projections name. */
export type Packed<Doc, Plain extends keyof Doc> = Pick<Doc, Plain> & {
  /** The others, packed. Absent in documents of earlier releases, where all stand plain. */
  readonly z?: Binary
}

/** Packs all fields of a document but these, which include its id. Source: ours. */
export function packOthers<Doc extends Document, Plain extends keyof Doc>(
  document: Doc,
  plain: ReadonlySet<Plain>,
): Packed<Doc, Plain> {
  const isPlain = ([name]: [string, unknown]) => plain.has(name as Plain)
  const fields = Object.entries(document)
  const others = Object.fromEntries(fields.filter((field) => !isPlain(field)))
  return { ...(Object.fromEntries(fields.filter(isPlain)) as Pick<Doc, Plain>), z: pack(others) }
}

/** The whole document. @throws Error where its bytes are damaged */
export function unpackOthers<Doc>({ z, ...plain }: { readonly _id: string; readonly z?: Binary }): Doc {
  return { ...plain, ...(z === undefined ? {} : unpack(z)) } as Doc
}

/** Packs a text. Source: ours. */
export function packText(text: string): Binary {
  return new BinaryValue(deflateSync(text, options))
}

/** @throws Error where the bytes are damaged */
export function unpackText(packed: Binary): string {
  return inflateSync(packed.value(), options).toString('utf8')
}
