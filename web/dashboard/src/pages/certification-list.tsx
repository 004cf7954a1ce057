import {
  walletCertificationSummarySchema,
  webhookCertificationSummarySchema,
} from '@pitboss/contracts/objects/certification'
import { pageOf } from '@pitboss/contracts/primitives'
import * as z from 'zod'
import { useRead } from '../hooks/use-read.ts'
import { CertificationBadge } from '../parts/certification-badge.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Moment } from '../parts/moment.tsx'
import { Panel } from '../parts/panel.tsx'

const schema = pageOf(z.union([walletCertificationSummarySchema, webhookCertificationSummarySchema]))

type ListProps = {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** The address of a certification's page, without its id. */
  readonly page: string
}

/** The newest certifications of a wallet or an endpoint. */
export function CertificationList({ path, query = {}, page }: ListProps) {
  const read = useRead(schema, path, { ...query, limit: '10' })
  return (
    <section aria-label="Certifications">
      <h2>Certifications</h2>
      <Panel read={read}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="about">None yet. A certification tries every case of the contract.</p>
          ) : (
            <DataTable
              label="Certifications"
              rows={data}
              keyOf={({ certification_id }) => certification_id}
              hrefOf={({ certification_id }) => `${page}/${certification_id}`}
              columns={[
                { title: 'Begun', cell: ({ created_at }) => <Moment at={created_at} /> },
                { title: 'Result', cell: (job) => <CertificationBadge of={job} /> },
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
