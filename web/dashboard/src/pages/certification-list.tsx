import { pageOf } from '@pitboss/contracts/primitives'
import { walletCertificationSummarySchema } from '@pitboss/contracts/objects/certification'
import { useRead } from '../hooks/use-read.ts'
import { Badge } from '../parts/badge.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Moment } from '../parts/moment.tsx'
import { Panel } from '../parts/panel.tsx'

const schema = pageOf(walletCertificationSummarySchema)

/** The newest certifications of the TEST wallet. */
export function CertificationList() {
  const read = useRead(schema, 'dashboard/wallets/TEST/certifications', { limit: '10' })
  return (
    <section aria-label="Certifications">
      <h2>Certifications</h2>
      <Panel read={read}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="about">None yet. A certification tries every case of the wallet contract.</p>
          ) : (
            <DataTable
              label="Certifications"
              rows={data}
              keyOf={({ certification_id }) => certification_id}
              hrefOf={({ certification_id }) => `/wallet/certifications/${certification_id}`}
              columns={[
                { title: 'Begun', cell: ({ created_at }) => <Moment at={created_at} /> },
                {
                  title: 'Result',
                  cell: ({ status, certified }) => (
                    <Badge
                      status={
                        status === 'RUNNING' ? status : certified === true ? 'CERTIFIED' : 'NOT CERTIFIED'
                      }
                    />
                  ),
                },
                { title: 'Passed', number: true, cell: ({ passed }) => passed },
                { title: 'Failed', number: true, cell: ({ failed }) => failed },
                { title: 'Skipped', number: true, cell: ({ skipped }) => skipped },
              ]}
            />
          )
        }
      </Panel>
    </section>
  )
}
