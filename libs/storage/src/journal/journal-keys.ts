import { createHash } from 'node:crypto'

/** A stream's own key, below which its entries stand: `<hh>/<parts>`. */
export type StreamKey = string

const numberDigits = 6
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Above every character that a key holds. */
const above = '\u{10ffff}'

/**
 * The key of a stream by the parts of its name. Free ids among them may hold any character: they are
 * percent-encoded, and uuids shortened, for a key stands in three places of each entry. `hh`, the first byte
 * of the name's SHA-256, spreads streams over 256 ranges of a shard key. Source: ours.
 */
export function streamKey(...parts: readonly string[]): StreamKey {
  const name = nameOf(parts)
  return `${firstByte(name)}/${name}`
}

/**
 * The key of a claim: below a letter beyond hex, so that no scan of entries meets it.
 * @param kind one letter from g to z
 * @param owner what it is unique in: a chain, a scope
 * @param own what is claimed there
 */
export function claimKey(kind: string, owner: readonly string[], own: string): string {
  return `${ownedBy(kind, owner)}${encodeURIComponent(own)}`
}

/** Two ids, both exclusive. */
export type ClaimRange = { readonly above: string; readonly below: string }

/** The range of all claims of a kind in one owner, or of those below `own`. */
export function claimsOf(kind: string, owner: readonly string[], own: string | null = null): ClaimRange {
  const first = ownedBy(kind, owner)
  return { above: first, below: own === null ? `${first}${above}` : `${first}${encodeURIComponent(own)}` }
}

/** What was claimed, by the claim's `_id`. */
export function claimedOwn(id: string): string {
  return decodeURIComponent(id.slice(id.lastIndexOf('/') + 1))
}

function ownedBy(kind: string, owner: readonly string[]): string {
  const name = nameOf(owner)
  return `${kind}/${firstByte(name)}/${name}/`
}

/** The `_id` of a stream's entry. @param number from 1 to 999,999 @throws RangeError outside */
export function entryId(stream: StreamKey, number: number): string {
  if (!(Number.isInteger(number) && number >= 1 && number < 10 ** numberDigits))
    throw new RangeError(`${stream} has no entry ${number}`)
  return `${stream}/${String(number).padStart(numberDigits, '0')}`
}

/** The number that an entry's `_id` ends with. */
export function entryNumber(id: string): number {
  return Number(id.slice(-numberDigits))
}

/** The stream that an entry's `_id` belongs to. */
export function streamOf(id: string): StreamKey {
  return id.slice(0, -numberDigits - 1)
}

/** A filter for all entries of a stream. */
export function entriesOf(stream: StreamKey): { _id: { $gt: string; $lt: string } } {
  return { _id: { $gt: `${stream}/`, $lt: `${stream}/${above}` } }
}

/** Parts as one text, from which `partsOf` has them back. Source: ours. */
export function nameOf(parts: readonly string[]): string {
  return parts.map((part) => (uuid.test(part) ? shortened(part) : encodeURIComponent(part))).join('/')
}

/** The parts of a name, as `nameOf` was given them. */
export function partsOf(name: string): string[] {
  return name.split('/').map((part) => (part.startsWith(':') ? lengthened(part) : decodeURIComponent(part)))
}

function lengthened(part: string): string {
  const hex = Buffer.from(part.slice(1), 'base64url').toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** A colon, which no encoded part has, and the 16 bytes in base64url. */
function shortened(text: string): string {
  return `:${Buffer.from(text.replaceAll('-', ''), 'hex').toString('base64url')}`
}

function firstByte(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 2)
}
