import type { Bus } from '@pitboss/bus/connect-bus'
import { handler, serveCalls } from '@pitboss/bus/serve-calls'
import type { AuditEntry } from '@pitboss/contracts/audit'
import { appendAudit } from '@pitboss/contracts/calls/auth'

type Logger = Parameters<typeof serveCalls>[0]['logger']
/** Trips to the broker before an entry is taken. */
const tripsFirst = 5

type Suite = { teardown(fn: () => unknown): void }

/**
 * Answers as the audit log of auth would, in this process: takes each id once.
 * @returns the entries as they were first taken, the newest last
 */
export async function serveAuditLog(t: Suite, bus: Bus, logger: Logger): Promise<readonly AuditEntry[]> {
  const log: AuditEntry[] = []
  const calls = await serveCalls({
    bus,
    service: 'auth',
    version: '0.1.0',
    logger,
    handlers: Object.values(appendAudit).map((call) =>
      handler(call, async ({ entries }) => {
        // An answer that does not wait for the log comes before these trips end.
        for (let trip = 0; trip < tripsFirst; trip++) await bus.nc.flush()
        const fresh = entries.filter((one) => !log.some(({ audit_id }) => audit_id === one.audit_id))
        log.push(...fresh)
        return { written: fresh.length }
      }),
    ),
  })
  t.teardown(() => calls.stop())
  return log
}
