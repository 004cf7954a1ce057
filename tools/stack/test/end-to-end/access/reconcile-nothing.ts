import { waitFor } from '@pitboss/testing/wait-for'
import { type AccessWorld, okay } from './access-world.ts'

const window = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z'

/** Compares an empty ledger to the end: one of an environment at a time. @returns the id of the comparison */
export async function reconcileNothing(
  { send }: AccessWorld,
  token: string,
  environment: 'TEST' | 'LIVE',
): Promise<string> {
  const path = '/v1/dashboard/reports/reconciliation'
  const headers = { 'content-type': 'application/x-ndjson' }
  const order = `${path}?environment=${environment}&${window}`
  const begun = okay(202, await send('POST', order, { token, rawBody: '', headers }))
  const id = String(begun.reconciliation_id)
  await waitFor(async () => okay(200, await send('GET', `${path}/${id}`, { token })).status === 'DONE', {
    what: 'the comparison to end',
  })
  return id
}
