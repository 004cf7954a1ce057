/** A span as a collector gets it. Ids are hexadecimal; `parentId` is null for a root. */
export type SpanRecord = {
  readonly service: string
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string | null
  readonly name: string
  /** OTLP's: 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly isError: boolean
}

const statusError = 2n

/**
 * The spans of an ExportTraceServiceRequest, by the field numbers of opentelemetry-proto 1.x (trace.proto,
 * common.proto). Written apart from the exporter, so that it checks what is sent.
 * @throws RangeError for bytes that are no such message
 */
export function readSpans(body: Uint8Array): SpanRecord[] {
  return readMessage(body)
    .all(1)
    .flatMap((resourceSpans) => {
      const { service } = readResource(resourceSpans)
      return readMessage(resourceSpans)
        .all(2)
        .flatMap((scopeSpans) => readMessage(scopeSpans).all(2))
        .map((span) => readSpan(service, span))
    })
}

function readResource(resourceSpans: Uint8Array): { service: string } {
  const [resource] = readMessage(resourceSpans).all(1)
  const attributes = resource === undefined ? {} : readAttributes(readMessage(resource).all(1))
  return { service: String(attributes['service.name']) }
}

function readSpan(service: string, bytes: Uint8Array): SpanRecord {
  const span = readMessage(bytes)
  const [status] = span.all(15)
  const parentId = hex(span.one(4))
  return {
    service,
    traceId: hex(span.one(1)),
    spanId: hex(span.one(2)),
    parentId: parentId === '' ? null : parentId,
    name: text(span.one(5)),
    kind: Number(span.number(6)),
    startNs: span.number(7),
    endNs: span.number(8),
    attributes: readAttributes(span.all(9)),
    isError: status !== undefined && readMessage(status).number(3) === statusError,
  }
}

function readAttributes(pairs: readonly Uint8Array[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const { one } = readMessage(pair)
      const value = readMessage(one(2))
      const known = value.has(1)
        ? text(value.one(1))
        : value.has(2)
          ? value.number(2) === 1n
          : Number(BigInt.asIntN(64, value.number(3)))
      return [text(one(1)), known]
    }),
  )
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8')
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** The fields of one protobuf message; each may come more than once. */
function readMessage(bytes: Uint8Array) {
  const parts = new Map<number, Uint8Array[]>()
  const numbers = new Map<number, bigint>()
  const view = Buffer.from(bytes)
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = view.readUInt8(at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    throw new RangeError('a varint has no end')
  }
  while (at < view.length) {
    const key = Number(varint())
    const [field, wire] = [key >> 3, key & 7]
    if (wire === 0) numbers.set(field, varint())
    else if (wire === 1) {
      numbers.set(field, view.readBigUInt64LE(at))
      at += 8
    } else if (wire === 5) {
      numbers.set(field, BigInt(view.readUInt32LE(at)))
      at += 4
    } else if (wire === 2) {
      const length = Number(varint())
      if (at + length > view.length) throw new RangeError('a field is longer than its message')
      parts.set(field, [...(parts.get(field) ?? []), view.subarray(at, at + length)])
      at += length
    } else throw new RangeError(`no wire type ${wire}`)
  }
  return {
    all: (field: number): readonly Uint8Array[] => parts.get(field) ?? [],
    one: (field: number): Uint8Array => parts.get(field)?.at(-1) ?? new Uint8Array(),
    number: (field: number): bigint => numbers.get(field) ?? 0n,
    has: (field: number): boolean => parts.has(field) || numbers.has(field),
  }
}
