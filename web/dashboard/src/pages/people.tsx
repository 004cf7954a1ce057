import { type User, userSchema } from '@pitboss/contracts/objects/user'
import { pageOf } from '@pitboss/contracts/primitives'
import { useState } from 'react'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { ListPage } from '../parts/list-page.tsx'
import { Moment } from '../parts/moment.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { ChangeRole, RemovePerson } from './person-acts.tsx'
import { InvitePerson } from './invite-person.tsx'
import { roleTexts } from './role-texts.ts'

const usersPage = pageOf(userSchema)

/** Who may sign in, and as what. */
export default function People() {
  const { user } = useDashboard()
  const [inviting, setInviting] = useState(false)
  const [changing, setChanging] = useState<User | null>(null)
  const [removing, setRemoving] = useState<User | null>(null)
  const refused = whyNot(user.role, 'POST /v1/dashboard/users')
  return (
    <ListPage
      title="People"
      needs="GET /v1/dashboard/users"
      about="People hold for both environments. A change of the role counts within two seconds."
      acts={
        <ActButton look="main-button" refused={refused} onPress={() => setInviting(true)}>
          Invite
        </ActButton>
      }
      path="dashboard/users"
      schema={usersPage}
      byEnvironment={false}
      keyOf={({ user_id }) => user_id}
      columns={[
        { title: 'Name', cell: ({ name }) => name },
        { title: 'Email', cell: ({ email }) => email },
        { title: 'Role', cell: ({ role }) => <span title={roleTexts[role]}>{role}</span> },
        { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
        { title: 'Second factor', cell: ({ totp_enabled }) => (totp_enabled ? 'on' : 'off') },
        { title: 'Last sign-in', cell: ({ last_login_at }) => <Moment at={last_login_at} /> },
        {
          title: 'Acts',
          cell: (person) =>
            refused !== null ? (
              <span className="quiet">for OWNER</span>
            ) : (
              <span className="acts">
                <button
                  type="button"
                  className="button quiet-button small"
                  onClick={() => setChanging(person)}
                >
                  Role<span className="unseen"> of {person.name}</span>
                </button>
                <button
                  type="button"
                  className="button quiet-button small"
                  onClick={() => setRemoving(person)}
                >
                  Remove<span className="unseen"> {person.name}</span>
                </button>
              </span>
            ),
        },
      ]}
      empty={null}
    >
      {inviting && <InvitePerson onClose={() => setInviting(false)} />}
      {changing !== null && <ChangeRole of={changing} onClose={() => setChanging(null)} />}
      {removing !== null && <RemovePerson of={removing} onClose={() => setRemoving(null)} />}
    </ListPage>
  )
}
