import type { Bus } from '@pitboss/bus/connect-bus'
import type { CallContext } from '@pitboss/contracts/call'
import type { reconcileChunk, reconcileOurs } from '@pitboss/contracts/calls/wallet'
import type { Scope } from '@pitboss/contracts/caller'
import { extraLineText } from '@pitboss/contracts/extra-line'
import type { LedgerLine, LedgerRow } from './ledger-lines.ts'
import { createHash } from 'node:crypto'

/** A line of the ledger that differs from ours, or a movement of ours that the ledger lacks. */
export type Difference = {
  readonly kind: 'extra' | 'different' | 'duplicate' | 'unreadable' | 'missing'
  /** Line of the ledger, counted from 1; a movement that it lacks has none. */
  readonly line?: number
  readonly message?: string
  readonly transaction_id?: string
  readonly fields?: readonly {
    readonly field: string
    readonly ours: string | null
    readonly theirs: string | null
  }[]
  readonly ours?: LedgerRow
}
export type Finding = Difference | { readonly summary: LedgerSummary }
export type LedgerSummary = {
  readonly from: string
  readonly to: string
  readonly lines: number
  readonly matched: number
  readonly differences: number
}

/** Window of the movements, `from` and `to` inclusive, ISO 8601. All lines of the ledger are compared. */
export type LedgerWindow = {
  readonly scope: Scope
  readonly from: string
  readonly to: string
}

/** The two calls to wallet-bridge: the gateway's, which carry a token, or those of operations. */
export type LedgerCalls = {
  readonly bus: Pick<Bus, 'call'>
  readonly chunk: typeof reconcileChunk
  readonly ours: typeof reconcileOurs
  readonly context: CallContext
}

/** Our side of the comparison. */
export type OurLedger = {
  /** Compares rows of the operator's with our movements of the same ids. */
  compare(rows: readonly LedgerRow[]): Promise<{ differences: readonly Difference[]; matched: number }>
  /** A page of our movements of the window that moved money; `next` is the `after` of the next one. */
  ours(after: string | null): Promise<{ rows: readonly LedgerRow[]; next: string | null }>
}

const rowsPerCallMax = 500

/**
 * Compares an operator's ledger with our movements, by calls to wallet-bridge; as `diffRows`.
 * @throws ServiceError of the calls to wallet-bridge, and of reading the lines. Source: ours.
 */
export function diffLedger(
  { bus, chunk, ours, context }: LedgerCalls,
  { scope, from, to }: LedgerWindow,
  lines: AsyncIterable<LedgerLine>,
): AsyncGenerator<Finding> {
  const our: OurLedger = {
    compare: (rows) => bus.call(chunk, { scope, rows: [...rows], from, to }, context),
    ours: (after) => bus.call(ours, { scope, from, to, after }, context),
  }
  return diffRows(our, { from, to }, lines)
}

/**
 * Compares an operator's ledger with our movements, in memory that grows by 8 bytes per line: `extra` and
 * `different` as the wallet service judges rows, `unreadable` lines, `duplicate` ids, and `missing`:
 * movements of ours that the ledger lacks. The summary comes last.
 */
export async function* diffRows(
  our: OurLedger,
  { from, to }: Pick<LedgerWindow, 'from' | 'to'>,
  lines: AsyncIterable<LedgerLine>,
): AsyncGenerator<Finding> {
  const theirs = new IdSet()
  const count = { lines: 0, matched: 0, differences: 0 }
  let rows: LedgerRow[] = []
  /** Where each id of `rows` stands. */
  const lineOf = new Map<string, number>()
  const compareRows = async () => {
    const { differences, matched } = await our.compare(rows)
    const found = differences.map((difference) => told(difference, lineOf))
    rows = []
    lineOf.clear()
    count.matched += matched
    return found
  }
  const found = (finding: Difference) => {
    count.differences += 1
    return finding
  }
  for await (const line of lines) {
    count.lines += 1
    if (!line.ok) yield found({ kind: 'unreadable', line: line.line, message: line.message })
    else if (!theirs.add(line.row.transaction_id)) {
      yield found({ kind: 'duplicate', line: line.line, transaction_id: line.row.transaction_id, fields: [] })
    } else {
      rows.push(line.row)
      lineOf.set(line.row.transaction_id, line.line)
    }
    if (rows.length >= rowsPerCallMax) for (const finding of await compareRows()) yield found(finding)
  }
  if (rows.length > 0) for (const finding of await compareRows()) yield found(finding)

  let after: string | null = null
  do {
    const page: Awaited<ReturnType<OurLedger['ours']>> = await our.ours(after)
    for (const ours of page.rows) {
      const { transaction_id } = ours
      if (!theirs.has(transaction_id)) yield found({ kind: 'missing', transaction_id, fields: [], ours })
    }
    after = page.next
  } while (after !== null)
  yield { summary: { from, to, ...count } }
}

/** A difference with its line, and in words where its kind and its fields do not say all. */
function told(difference: Difference, lineOf: ReadonlyMap<string, number>): Difference {
  const { kind, transaction_id = '', fields = [] } = difference
  const line = lineOf.get(transaction_id)
  const placed = line === undefined ? difference : { ...difference, line }
  return kind === 'extra' ? { ...placed, message: extraLineText([...fields]) } : placed
}

const startSlots = 1 << 12
const fillMax = 0.6

/**
 * A set of texts in 8 bytes each, by the first 64 bits of their SHA-256: a million ids fit into some 27 MB
 * with room to grow. Two different texts are taken for one with a chance of about n² / 2^65.
 */
export class IdSet {
  #slots = new BigUint64Array(startSlots)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Whether the text was new. */
  add(text: string): boolean {
    if (this.#size >= this.#slots.length * fillMax) this.#grow()
    const added = insert(this.#slots, fingerprint(text))
    if (added) this.#size += 1
    return added
  }

  has(text: string): boolean {
    const wanted = fingerprint(text)
    return this.#slots[slotOf(this.#slots, wanted)] === wanted
  }

  #grow(): void {
    const larger = new BigUint64Array(this.#slots.length * 2)
    for (const value of this.#slots) if (value !== 0n) insert(larger, value)
    this.#slots = larger
  }
}

function insert(slots: BigUint64Array, value: bigint): boolean {
  const slot = slotOf(slots, value)
  if (slots[slot] === value) return false
  slots[slot] = value
  return true
}

/** The slot that holds the value, or the free one where it belongs. There is always a free one. */
function slotOf(slots: BigUint64Array, value: bigint): number {
  const mask = slots.length - 1
  let slot = Number(value & BigInt(mask))
  while (slots[slot] !== 0n && slots[slot] !== value) slot = (slot + 1) & mask
  return slot
}

/** Never 0, which marks a free slot. */
function fingerprint(text: string): bigint {
  const value = createHash('sha256').update(text).digest().readBigUInt64LE(0)
  return value === 0n ? 1n : value
}
