import { walletCertificationSchema } from '@pitboss/contracts/objects/certification'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { useRead } from '../hooks/use-read.ts'
import { CertificationReport } from '../parts/certification-report.tsx'
import { ClosedPage } from '../parts/closed-page.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'

const lookAgainMs = 1000

/** One certification of the TEST wallet. */
export default function WalletCertification() {
  const { certification_id = '' } = useParams()
  const { user } = useDashboard()
  const [running, setRunning] = useState(true)
  const closed = whyNot(user.role, 'GET /v1/dashboard/wallets/{environment}')
  const read = useRead(
    walletCertificationSchema,
    `dashboard/wallets/TEST/certifications/${encodeURIComponent(certification_id)}`,
    {},
    { enabled: closed === null, everyMs: running ? lookAgainMs : false },
  )
  if (read.data !== undefined && (read.data.status === 'RUNNING') !== running)
    setRunning(read.data.status === 'RUNNING')
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
          />
        )}
      </Panel>
    </Page>
  )
}
