import { subjectsAskedBy } from '@pitboss/contracts/defined-calls'
import t from 'tap'
import { routeTable } from '../../src/routes/route-table.ts'

/** Calls that the gateway makes besides those of its routes. */
const own = [
  'auth.v1.dashboard.login',
  'auth.v1.dashboard.logout',
  'auth.v1.dashboard.refresh',
  'auth.v1.document.sign',
  'auth.v1.invitation.accept',
  'auth.v1.keys.public',
  'auth.v1.keys.records',
  'auth.v1.launch-token.mint',
  'auth.v1.principal.resolve',
  'auth.v1.request-log.append',
  'auth.v1.token.mint',
  'rounds.v1.receipt.of-round',
  'wallet.v1.callback.receive',
  'wallet.v1.reconciliation.compare',
  'wallet.v1.reconciliation.keep',
  'wallet.v1.reconciliation.ours',
  'wallet.v1.reconciliation.start',
  'wallet.v1.transaction.of-round',
  'wallet.v1.wallet.health',
  'webhooks.v1.certification.find',
  'webhooks.v1.delivery.health',
  'webhooks.v1.event.of-round',
]

t.test('the gateway may ask what its routes need and its own calls, and nothing else', async (t) => {
  const routed = routeTable.flatMap(({ action }) => (action.kind === 'forward' ? [action.call.subject] : []))
  t.strictSame(subjectsAskedBy('gateway'), [...routed, ...own].toSorted())
  t.strictSame(
    subjectsAskedBy('gateway').filter((subject) => /\.ops\.|^wallet\.v1\.movement\./.test(subject)),
    [],
  )
})
