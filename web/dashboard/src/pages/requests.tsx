import { type RequestLogRow, requestLogSchema } from '@pitboss/contracts/objects/account'
import { pageOf } from '@pitboss/contracts/primitives'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'
import { Mistakes } from './mistakes.tsx'

const requestsPage = pageOf(requestLogSchema)
const filters: readonly Filter[] = [
  { name: 'api_key', label: 'Key' },
  { name: 'method', label: 'Method', options: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
  { name: 'status', label: 'HTTP status' },
  { name: 'code', label: 'Error code' },
  { name: 'path', label: 'Path begins with' },
  { name: 'request_id', label: 'Request id' },
]

const follow = { kind: 'requests', record: requestLogSchema } as const
const keyOf = ({ request_id, at }: RequestLogRow) => `${request_id} ${at}`

/** The requests of the account's keys. */
export default function Requests() {
  return (
    <ListPage
      above={<Mistakes />}
      title="Requests"
      about="What your servers asked in the last 30 days, and what refused calls were told. Bodies are never kept."
      needs="GET /v1/dashboard/request-logs"
      path="dashboard/request-logs"
      schema={requestsPage}
      filters={filters}
      follow={follow}
      anyTime="Last 30 days"
      keyOf={keyOf}
      columns={[
        { title: 'When', cell: ({ at }) => <Moment at={at} /> },
        {
          title: 'Request',
          cell: ({ method, path }) => (
            <code>
              {method} {path}
            </code>
          ),
        },
        { title: 'Status', number: true, cell: ({ status }) => status },
        {
          title: 'Code',
          cell: ({ code, answer }) =>
            code === null ? (
              <span className="quiet">–</span>
            ) : (
              <>
                <Badge status={code} exact /> <div className="quiet">{toldBy(answer)}</div>
              </>
            ),
        },
        { title: 'Took', number: true, cell: ({ latency_ms }) => `${latency_ms} ms` },
        {
          title: 'Key',
          cell: ({ api_key }) =>
            api_key === null ? <span className="quiet">–</span> : <code>{api_key}</code>,
        },
        { title: 'From', cell: ({ client_address }) => <span className="nowrap">{client_address}</span> },
        { title: 'Request id', cell: ({ request_id }) => <code>{request_id}</code> },
      ]}
      empty={
        <Empty title="No request yet">
          <p>Create a key, ask for a token, and each request of your server appears here within seconds.</p>
        </Empty>
      }
    />
  )
}

function toldBy(answer: RequestLogRow['answer']): string {
  if (answer === undefined || answer.details.length === 0) return answer?.message ?? ''
  return answer.details.map(({ path, message }) => `${path} ${message}`).join('; ')
}
