import { webhookCertificationSchema } from '@pitboss/contracts/objects/certification'
import { Link, useParams } from 'wouter'
import { useJob } from '../hooks/use-job.ts'
import { CertificationReport } from '../parts/certification-report.tsx'
import { ClosedPage } from '../parts/closed-page.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'

const act = 'POST /v1/dashboard/webhooks/{webhook_id}/certifications/{certification_id}/cancel'

/** One certification of an endpoint's receiver. */
export default function EndpointCertification() {
  const { webhook_id = '', certification_id = '' } = useParams()
  const { user, environment } = useDashboard()
  const closed = whyNot(user.role, 'GET /v1/dashboard/webhooks')
  const [endpoint, id] = [encodeURIComponent(webhook_id), encodeURIComponent(certification_id)]
  const path = `dashboard/webhooks/${endpoint}/certifications/${id}`
  const read = useJob(webhookCertificationSchema, path, { environment }, closed === null)
  if (closed !== null) return <ClosedPage title="Certification" why={closed} />
  return (
    <Page title="Certification" about={<Link href={`/endpoints/${webhook_id}`}>Back to the endpoint</Link>}>
      <Panel read={read}>
        {(job) => (
          <CertificationReport
            of={job}
            what="receiver"
            facts={{}}
            path={path}
            schema={webhookCertificationSchema}
            refused={whyNot(user.role, act)}
          />
        )}
      </Panel>
    </Page>
  )
}
