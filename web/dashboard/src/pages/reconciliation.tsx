import { reconciliationSchema } from '@pitboss/contracts/objects/reconciliation'
import { Link, useParams } from 'wouter'
import { useJob } from '../hooks/use-job.ts'
import { Badge } from '../parts/badge.tsx'
import { CancelJob } from '../parts/cancel-job.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { useZone } from '../time/zone.tsx'
import { exactText } from '../time/zone-time.ts'
import { Differences } from './differences.tsx'

const act = 'POST /v1/dashboard/reports/reconciliation/{reconciliation_id}/cancel'

/** One comparison of a ledger: its progress, then what differs. */
export default function Reconciliation() {
  const { reconciliation_id = '' } = useParams()
  const { user, environment } = useDashboard()
  const { zone } = useZone()
  const path = `dashboard/reports/reconciliation/${encodeURIComponent(reconciliation_id)}`
  const read = useJob(reconciliationSchema, path, { environment }, true)
  return (
    <Page title="Reconciliation" about={<Link href="/reconciliation">Back to all</Link>}>
      <Panel read={read}>
        {(job) => (
          <>
            <section className="card" aria-label="Reconciliation">
              <p role="status">
                <Badge status={job.status} /> {job.lines} of {job.lines_total} lines are compared:{' '}
                {job.matched} match, {job.differences_total} differences.
              </p>
              {job.status === 'RUNNING' && (
                <progress
                  className="meter"
                  aria-label="Progress"
                  max={Math.max(job.lines_total, 1)}
                  value={job.lines}
                />
              )}
              {job.status === 'DONE' && job.reason === null && job.differences_total === 0 && (
                <p>
                  <strong>The ledgers agree.</strong>
                </p>
              )}
              {job.reason !== null && <p className="fault">{job.reason}</p>}
              <Facts
                facts={{
                  From: exactText(job.from, zone),
                  To: exactText(job.to, zone),
                  Begun: <Moment at={job.created_at} />,
                  Ended: <Moment at={job.finished_at} />,
                }}
              />
              <CancelJob
                of={job}
                what="comparison"
                path={path}
                schema={reconciliationSchema}
                refused={whyNot(user.role, act)}
              >
                No further line is compared. The counts so far stay; the ledger and what differed do not.
              </CancelJob>
            </section>
            <Differences of={job.differences} counts={job.counts} name={job.reconciliation_id} />
          </>
        )}
      </Panel>
    </Page>
  )
}
