import type { Bus } from '@pitboss/bus/connect-bus'
import { handler, serveCalls } from '@pitboss/bus/serve-calls'
import { needApproval, type NeedApproval } from '@pitboss/contracts/calls/approvals'
import { newId } from '@pitboss/runtime/new-id'

type Logger = Parameters<typeof serveCalls>[0]['logger']
type Suite = { teardown(fn: () => unknown): void }

/** What was asked, the newest last; and whether the account wants a second person from now on. */
export type ServedApprovals = { readonly asked: NeedApproval[]; isWanted: boolean }

/** Answers in this process as auth would to who asks whether an act needs a second person. */
export async function serveApprovals(t: Suite, bus: Bus, logger: Logger): Promise<ServedApprovals> {
  const served: ServedApprovals = { asked: [], isWanted: false }
  const calls = await serveCalls({
    bus,
    service: 'auth',
    version: '0.1.0',
    logger,
    handlers: [
      handler(needApproval, async (act) => {
        served.asked.push(act)
        return { approval: served.isWanted ? pendingOf(act) : null }
      }),
    ],
  })
  t.teardown(() => calls.stop())
  return served
}

function pendingOf({ by, order, object, before, after }: NeedApproval) {
  return {
    ...{ approval_id: newId('apr'), act: order.act, object, before, after, status: 'PENDING' as const },
    ...{ asked_by: by.actor, asked_at: '2026-11-26T00:00:00.000Z', expires_at: '2026-11-27T00:00:00.000Z' },
    ...{ decided_by: null, decided_at: null, ended_at: null, outcome: null },
  }
}
