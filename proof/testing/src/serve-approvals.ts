import type { Bus } from '@pitboss/bus/connect-bus'
import { handler, serveCalls } from '@pitboss/bus/serve-calls'
import {
  type ApprovedBy,
  needApproval,
  type NeedApproval,
  showApproved,
} from '@pitboss/contracts/calls/approvals'
import type { GraveOrder } from '@pitboss/contracts/objects/approval'
import { ServiceError } from '@pitboss/errors/service-error'
import { newId } from '@pitboss/runtime/new-id'

type Logger = Parameters<typeof serveCalls>[0]['logger']
type Suite = { teardown(fn: () => unknown): void }
type Approved = { readonly order: GraveOrder; readonly seen: string; readonly by: ApprovedBy }

/** What was asked, the newest last; and whether the account wants a second person from now on. */
export type ServedApprovals = {
  readonly asked: NeedApproval[]
  isWanted: boolean
  /** Approvals that permit the next acts, one each. */
  readonly permits: ApprovedBy['approval'][]
  /** Lets a service find an approval that was given. */
  give(approved: Approved): void
}

/** Answers in this process as auth would to who asks whether an act needs a second person. */
export async function serveApprovals(t: Suite, bus: Bus, logger: Logger): Promise<ServedApprovals> {
  const given = new Map<string, Approved>()
  const served: ServedApprovals = {
    asked: [],
    isWanted: false,
    permits: [],
    give: (approved) => given.set(approved.by.approval.approval_id, approved),
  }
  const calls = await serveCalls({
    bus,
    service: 'auth',
    version: '0.1.0',
    logger,
    tokens: {
      admit: async ({ subject, token }, _, sent) => {
        if (!('none' in token) && sent.token === null) throw new Error(`${subject} came without a token`)
      },
    },
    handlers: [
      ...Object.values(needApproval).map((call) =>
        handler(call, async (act) => {
          served.asked.push(act)
          const permit = served.permits.shift()
          if (permit !== undefined) return { approval: null, given: permit }
          return { approval: served.isWanted ? pendingOf(act) : null }
        }),
      ),
      handler(showApproved, async ({ approval_id }) => {
        const approved = given.get(approval_id)
        if (approved === undefined) throw new ServiceError('NOT_FOUND')
        return approved
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
