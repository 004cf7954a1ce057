import { credentialSchema } from '@pitboss/contracts/objects/account'
import { pageOf } from '@pitboss/contracts/primitives'
import { useState } from 'react'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Moment } from '../parts/moment.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNoKeyLike } from '../session/may.ts'
import { NewKey } from './new-key.tsx'
import { scopesText } from './scope-texts.ts'

const keysPage = pageOf(credentialSchema)

/** The key pairs of the environment. */
export default function Keys() {
  const { user, environment } = useDashboard()
  const [creating, setCreating] = useState(false)
  const refused = whyNoKeyLike(user.role, { environment, scopes: ['games:read'] })
  const create = (
    <ActButton look="main-button" refused={refused} onPress={() => setCreating(true)}>
      Create key
    </ActButton>
  )
  return (
    <ListPage
      title="Keys"
      needs="GET /v1/dashboard/credentials"
      about="A key and its secret let your server ask for tokens. Keep the secret on the server alone."
      acts={create}
      path="dashboard/credentials"
      schema={keysPage}
      keyOf={({ api_key }) => api_key}
      hrefOf={({ api_key }) => `/keys/${api_key}`}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Key', cell: ({ api_key }) => <code>{api_key}</code> },
        { title: 'May do', cell: ({ scopes }) => scopesText(scopes) },
        { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
        { title: 'Last used', cell: ({ last_used_at }) => <Moment at={last_used_at} /> },
        { title: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
      ]}
      empty={
        <Empty title={`No ${environment} key yet`}>
          <p>
            Create one, store its secret on your server, and ask <code>POST /v1/auth/token</code> for a token.
            With it your server opens sessions for players.
          </p>
        </Empty>
      }
    >
      {creating && <NewKey onClose={() => setCreating(false)} />}
    </ListPage>
  )
}
