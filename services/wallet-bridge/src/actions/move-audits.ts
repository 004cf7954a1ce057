import type { AuditEntry } from '@pitboss/contracts/audit'
import { within } from '@pitboss/runtime/within'
import type { MoneyEntry } from '../storage/round-money.ts'

const entriesPerCall = 50
const answerWaitsMs = 500

/** Moves the audit entries of orders about movements to auth, as a duty of the journal's entries. */
export function createMoveAudits(append: (entries: readonly AuditEntry[]) => Promise<unknown>) {
  const waiting = new Map<string, PromiseWithResolvers<void>>()
  return {
    /** The duty. The log takes an id once. */
    async run(entries: readonly MoneyEntry[]): Promise<void> {
      const audits = entries.flatMap(({ au }) => (au === undefined ? [] : [au]))
      for (let at = 0; at < audits.length; at += entriesPerCall) {
        const some = audits.slice(at, at + entriesPerCall)
        await append(some)
        for (const { audit_id } of some) {
          waiting.get(audit_id)?.resolve()
          waiting.delete(audit_id)
        }
      }
    },
    /** Takes note of an audit entry that an entry of this process has. */
    expect: (auditId: string) => void waiting.set(auditId, Promise.withResolvers()),
    /** The same function; its answer waits until what it has written has moved, half a second at most. */
    following: <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
      async function follow(...args: Args): Promise<Result> {
        const before = new Set(waiting.keys())
        const result = await run(...args)
        const written = [...waiting].filter(([id]) => !before.has(id)).map(([, { promise }]) => promise)
        if (written.length > 0) await within(Promise.all(written), answerWaitsMs)
        return result
      },
  }
}
