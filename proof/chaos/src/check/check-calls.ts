import { z } from 'zod'
import { groupBy } from './group.ts'
import type { WalletCall } from './rows.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  bytes: 'calls: a movement sends the same bytes at every try',
  alone: 'calls: one wallet call in flight per round',
  refused: 'calls: a stake that was refused was asked for once',
  complete: 'calls: everything in the ledger came by a call that was seen',
  closed: 'calls: a round that a return has closed gets no other stake or win',
} as const

const bodyOf = z.object({
  roundId: z.string(),
  type: z.string().optional(),
  roundClosed: z.boolean().optional(),
})

/**
 * Checks every call on its way to the wallet. A call that it answered later than the caller waits
 * (`timeoutMs`) is over for the caller, so only calls answered in time can count as in flight beside another.
 */
export function checkCalls(
  { calls, movements, ledger, restored }: Pick<Sources, 'calls' | 'movements' | 'ledger' | 'restored'>,
  timeoutMs: number,
  verdict: Verdict,
): void {
  const seen = new Set(calls.map(({ operation, transaction_id }) => `${operation} ${transaction_id}`))
  for (const { operation, transaction_id: id, status } of ledger) {
    if (operation === 'adjustment' || status === 'TOMBSTONE') continue
    verdict.check(names.complete, seen.has(`${operation} ${id}`), () => `${operation} ${id}`)
  }
  const failed = new Set(
    movements.filter(({ status }) => status === 'FAILED').map(({ transaction_id }) => transaction_id),
  )
  // What an operator's server did with its round is lost where both databases were set back.
  const isForgotten = (id: string) =>
    restored?.services.includes('rounds') === true && restored.movements.has(id)
  const moving = calls.filter(({ operation }) => operation !== 'balance')
  for (const [id, own] of groupBy(moving, ({ transaction_id }) => transaction_id)) {
    // Its bytes, and how often it was asked for, are lost with it.
    if (restored?.movements.has(id) === true) continue
    const bodies = new Set(own.map(({ body }) => body))
    verdict.check(names.bytes, bodies.size === 1, () => `${id}: ${[...bodies].join(' and ')}`)
    if (!failed.has(id)) continue
    verdict.check(names.refused, own.length === 1, () => `${id}: ${own.map(({ at }) => at).join(', ')}`)
  }
  for (const [roundId, own] of groupBy(moving, ({ body }) => readBody(body)?.roundId ?? null)) {
    const ordered = own.toSorted((a, b) => a.seq - b.seq).toSorted((a, b) => startOf(a) - startOf(b))
    checkClosed(roundId, ordered, { isForgotten, verdict })
    for (const [index, call] of ordered.entries()) {
      const before = ordered[index - 1]
      if (before === undefined || before.duration_ms >= timeoutMs / 2) continue
      const apart = startOf(call) >= startOf(before) + before.duration_ms - clockStepMs
      verdict.check(
        names.alone,
        apart,
        () =>
          `${roundId}: ${call.transaction_id} at ${call.at} while ${before.transaction_id} of ${before.at} took ${before.duration_ms} ms`,
      )
    }
  }
}

/** Looks for a movement that was first sent after the round's end had been told with a stake's return. */
function checkClosed(
  roundId: string | null,
  ordered: readonly WalletCall[],
  { isForgotten, verdict }: { isForgotten: (transactionId: string) => boolean; verdict: Verdict },
): void {
  const begun = new Set<string | null>()
  let closing: string | null = null
  for (const { transaction_id: id, body } of ordered) {
    const { type = '', roundClosed } = readBody(body) ?? {}
    const isLate = closing !== null && !isReturn(type) && !begun.has(id)
    verdict.check(names.closed, !isLate, () => `${roundId}: ${type} ${id} after ${closing}`)
    begun.add(id)
    if (isReturn(type) && roundClosed === true && id !== null && !isForgotten(id)) closing ??= id
  }
}

function isReturn(type: string): boolean {
  return type === 'REFUND' || type === 'ROLLBACK'
}

/** Both times are rounded to whole milliseconds. */
const clockStepMs = 2

function startOf({ at }: WalletCall): number {
  return Date.parse(at)
}

function readBody(body: string): z.infer<typeof bodyOf> | null {
  try {
    return bodyOf.parse(JSON.parse(body))
  } catch {
    return null
  }
}
