import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { opsRewriteSeals } from '@pitboss/contracts/calls/seals'
import type { RewriteSeals } from '@pitboss/storage/rewrite-seals'

/** Counts what this service has sealed, and seals it anew, for operations. Source: ours. */
export function sealCalls(seals: RewriteSeals): CallHandler[] {
  return [handler(opsRewriteSeals.rounds, ({ order, after }) => seals.page({ after, isDry: order.dryRun }))]
}
