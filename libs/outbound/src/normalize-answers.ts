import type { Socket } from 'node:net'

/**
 * What is odd about the head of an answer, and is taken all the same: interim answers (1xx) that nobody asked
 * for, a length beside chunks, one length several times.
 */
export const headOddities = ['interim', 'length-and-chunks', 'repeated-length'] as const
export type HeadOddity = (typeof headOddities)[number]

/** The header by which `normalizeAnswers` says what was odd; one that a peer sends is taken out. */
const odditiesHeader = 'x-pitboss-oddities'

const headBytesMax = 16 * 1024
const statusLine = /^HTTP\/1\.[01] ([0-9]{3})[ \r]/
const finalStatusLine = /^HTTP\/1\.[01] [02-9][0-9]{2}[ \r]/
/** What a head has in which something is odd; few others have it. */
const maybeOdd =
  /x-pitboss-oddities|content-length:[^\r\n]*,|content-length[^]*(?:content-length|transfer-encoding)|transfer-encoding[^]*content-length/i
const nothing: Buffer = Buffer.alloc(0)

/**
 * Gives the HTTP client that reads this socket heads that it can parse. A client must parse interim answers
 * that it does not expect, and may take a length that is said twice (RFC 9110, sections 15.2 and 8.6); chunks
 * go before a length, and the connection ends with such an answer (RFC 9112, section 6.3). undici and
 * `node:http` give up at one of these or the other. Heads of more than 16 KiB pass as they are.
 */
export function normalizeAnswers(socket: Socket): void {
  const [push, write] = [socket.push.bind(socket), socket.write.bind(socket)]
  let held = nothing
  let isAtHead = false
  let isInterimSeen = false

  const define = (name: 'push' | 'write', value: (...given: unknown[]) => unknown) =>
    Object.defineProperty(socket, name, { value, configurable: true, writable: true })
  define('write', (...given) => {
    isAtHead = true
    return Reflect.apply(write, socket, given)
  })
  define('push', (...given) => {
    const [chunk] = given
    if (!isAtHead || (chunk !== null && !Buffer.isBuffer(chunk))) return Reflect.apply(push, socket, given)
    if (chunk === null) {
      // What has come of a head tells the parser that it broke off.
      if (held.length > 0) push(held)
      held = nothing
      return push(null)
    }
    if (held.length === 0 && !isInterimSeen && isPlainHead(chunk)) {
      isAtHead = false
      return push(chunk)
    }
    const bytes: Buffer = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    const { interim, rest, isWhole } = passInterim(bytes)
    isInterimSeen ||= interim
    held = isWhole ? nothing : rest
    if (!isWhole) return true
    const normal = normalizeHead(rest, isInterimSeen)
    isAtHead = false
    isInterimSeen = false
    return push(normal)
  })
}

/** The oddities of an answer by its headers, as HTTP clients give them. */
export function headOdditiesOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): readonly HeadOddity[] {
  const said = String(headers[odditiesHeader] ?? '').split(' ')
  return headOddities.filter((one) => said.includes(one))
}

/** Whether these bytes begin with a whole head that stays as it is, as nearly all of them do. */
function isPlainHead(bytes: Buffer): boolean {
  const end = endOfHead(bytes)
  if (end === null) return false
  const head = bytes.toString('latin1', 0, end)
  return finalStatusLine.test(head) && !maybeOdd.test(head)
}

/** What follows the interim answers at the beginning; `isWhole` when that is a head, or never becomes one. */
function passInterim(bytes: Buffer): { interim: boolean; rest: Buffer; isWhole: boolean } {
  let rest = bytes
  for (;;) {
    const interim = rest.length < bytes.length
    const end = endOfHead(rest)
    if (end === null) return { interim, rest, isWhole: rest.length > headBytesMax || !mayBecomeHead(rest) }
    const status = statusLine.exec(rest.toString('latin1', 0, end))?.[1] ?? ''
    if (!status.startsWith('1') || status === '101') return { interim, rest, isWhole: true }
    rest = rest.subarray(end)
  }
}

/** Where the head at the beginning ends; null where it does not. A bare line feed ends it for the parser. */
function endOfHead(bytes: Buffer): number | null {
  const [end, bare] = [bytes.indexOf('\r\n\r\n'), bytes.indexOf('\n\n')]
  if (bare !== -1 && (end === -1 || bare < end)) return bare + 2
  return end === -1 ? null : end + 4
}

function mayBecomeHead(bytes: Buffer): boolean {
  const begins = 'HTTP/1.'
  return begins.startsWith(bytes.toString('latin1', 0, begins.length))
}

/** The head at the beginning with one way of saying its length, and with what was odd. */
function normalizeHead(bytes: Buffer, isInterimSeen: boolean): Buffer {
  const end = endOfHead(bytes)
  if (end === null) return bytes
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n').slice(0, -2)
  // Where lines end otherwise, the parser decides.
  if (!statusLine.test(`${first}\r`) || lines.some((line) => /[\r\n]/.test(line))) return bytes
  const lengths = lines.flatMap((line) => valueOf(line, 'content-length')?.split(',') ?? [])
  const distinct = new Set(lengths.map((length) => length.trim()))
  const codings = lines.flatMap((line) => valueOf(line, 'transfer-encoding') ?? [])
  const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === 'chunked'
  const isLengthOver = isChunked && lengths.length > 0
  const isRepeated = !isLengthOver && codings.length === 0 && lengths.length > 1 && distinct.size === 1
  const oddities: HeadOddity[] = [
    ...(isInterimSeen ? (['interim'] as const) : []),
    ...(isLengthOver ? (['length-and-chunks'] as const) : []),
    ...(isRepeated ? (['repeated-length'] as const) : []),
  ]
  const out = [
    odditiesHeader,
    ...(isLengthOver || isRepeated ? ['content-length'] : []),
    ...(isLengthOver ? ['connection'] : []),
  ]
  const kept = lines.filter((line) => out.every((name) => valueOf(line, name) === null))
  if (oddities.length === 0 && kept.length === lines.length) return bytes
  const head = [
    first,
    ...kept,
    ...(isRepeated ? [`content-length: ${[...distinct].join('')}`] : []),
    ...(isLengthOver ? ['connection: close'] : []),
    ...(oddities.length === 0 ? [] : [`${odditiesHeader}: ${oddities.join(' ')}`]),
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes.subarray(end)])
}

/** The value of a header's line; null for another header. */
function valueOf(line: string, name: string): string | null {
  if (line.charAt(name.length) !== ':') return null
  return line.slice(0, name.length).toLowerCase() === name ? line.slice(name.length + 1).trim() : null
}
