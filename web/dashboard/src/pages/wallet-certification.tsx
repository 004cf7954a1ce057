import { walletCertificationSchema } from '@pitboss/contracts/objects/certification'
import { Link, useParams } from 'wouter'
import { useJob } from '../hooks/use-job.ts'
import { CertificationReport } from '../parts/certification-report.tsx'
import { ClosedPage } from '../parts/closed-page.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'

const act = 'POST /v1/dashboard/wallets/{environment}/certifications/{certification_id}/cancel'

/** One certification of the TEST wallet. */
export default function WalletCertification() {
  const { certification_id = '' } = useParams()
  const { user } = useDashboard()
  const closed = whyNot(user.role, 'GET /v1/dashboard/wallets/{environment}')
  const path = `dashboard/wallets/TEST/certifications/${encodeURIComponent(certification_id)}`
  const read = useJob(walletCertificationSchema, path, {}, closed === null)
  if (closed !== null) return <ClosedPage title="Certification" why={closed} />
  return (
    <Page title="Certification" about={<Link href="/wallet">Back to the wallet</Link>}>
      <Panel read={read}>
        {(job) => (
          <CertificationReport
            of={job}
            what="wallet"
            facts={{
              Player: <code>{job.player_id}</code>,
              Currency: job.currency,
              'Blocked player': job.blocked_player_id,
              'Unknown player': job.unknown_player_id,
            }}
            path={path}
            schema={walletCertificationSchema}
            refused={whyNot(user.role, act)}
          />
        )}
      </Panel>
    </Page>
  )
}
