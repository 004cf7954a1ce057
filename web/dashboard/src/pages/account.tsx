import { userSchema, userSessionSchema } from '@pitboss/contracts/objects/user'
import { pageOf } from '@pitboss/contracts/primitives'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { Badge } from '../parts/badge.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Field } from '../parts/field.tsx'
import { Facts } from '../parts/facts.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { PasswordField } from '../parts/password-field.tsx'
import { textOf } from '../parts/text-of.ts'
import { useDashboard } from '../session/dashboard-context.ts'
import { EnrolTotp } from '../session/enrol-totp.tsx'
import { PasswordForm } from '../session/password-form.tsx'
import { removeTotpBody } from '../session/people-bodies.ts'
import { SignOutButton } from '../session/sign-out-button.tsx'

const sessionsPage = pageOf(userSessionSchema)

/** The own record, password, second factor and sessions. */
export default function Account() {
  const [dialog, setDialog] = useState<'password' | 'enrol' | 'remove' | null>(null)
  const { user } = useDashboard()
  const read = useRead(userSchema, 'dashboard/me')
  const close = () => setDialog(null)
  return (
    <Page title="My account" acts={<SignOutButton />}>
      <section className="card" aria-label="You">
        <Panel read={read}>
          {(me) => (
            <Facts
              facts={{
                Name: me.name,
                Email: me.email,
                Role: me.role,
                'Second factor': me.totp_enabled ? 'on' : 'off',
                'Last sign-in': <Moment at={me.last_login_at} />,
              }}
            />
          )}
        </Panel>
        <div className="buttons">
          <button type="button" className="button quiet-button" onClick={() => setDialog('password')}>
            Change password
          </button>
          <button
            type="button"
            className="button quiet-button"
            onClick={() => setDialog(user.totp_enabled ? 'remove' : 'enrol')}
          >
            {user.totp_enabled ? 'Remove second factor' : 'Add second factor'}
          </button>
        </div>
      </section>
      <h2>Where you are signed in</h2>
      <OwnSessions />
      {dialog === 'password' && (
        <Modal title="Change password" onClose={close}>
          <p>Every other session of yours ends.</p>
          <PasswordForm />
        </Modal>
      )}
      {dialog === 'enrol' && (
        <Modal title="Add a second factor" onClose={close}>
          <EnrolTotp />
        </Modal>
      )}
      {dialog === 'remove' && <RemoveTotp onClose={close} />}
    </Page>
  )
}

function RemoveTotp({ onClose }: { onClose: () => void }) {
  const { api, session, user } = useDashboard()
  const act = useAct(async (body: { password: string; code: string }) => {
    await api.send(null, 'DELETE', 'dashboard/me/totp', { body })
    session.leave('Your second factor is off. Sign in again.', user.email)
  })
  return (
    <Modal title="Remove the second factor" onClose={onClose}>
      <p>A sign-in then needs the password alone. Every session of yours ends.</p>
      <Form
        schema={removeTotpBody}
        read={(data) => ({
          password: textOf(data, 'password'),
          code: textOf(data, 'code').replaceAll(' ', ''),
        })}
        send={act.run}
        {...act}
        submit="Remove second factor"
      >
        {(faults) => (
          <>
            <PasswordField label="Password" name="password" fault={faults.password} />
            <Field label="Code" hint="Of the authenticator, or a recovery code." fault={faults.code}>
              <input type="text" name="code" autoComplete="one-time-code" />
            </Field>
          </>
        )}
      </Form>
    </Modal>
  )
}

function OwnSessions() {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const read = useRead(sessionsPage, 'dashboard/me/sessions', { limit: '200' })
  const [ending, setEnding] = useState<string | null>(null)
  const end = useAct((id: string) =>
    api.send(null, 'DELETE', `dashboard/me/sessions/${encodeURIComponent(id)}`),
  )
  async function confirmed(id: string) {
    if ((await end.run(id)) === null) return
    setEnding(null)
    await queries.invalidateQueries()
  }
  return (
    <Panel read={read}>
      {({ data }) => (
        <>
          <ErrorNotice error={ending === null ? end.error : null} />
          <DataTable
            label="Sessions"
            rows={data}
            keyOf={({ session_id }) => session_id}
            columns={[
              {
                title: 'Browser',
                cell: ({ user_agent, current }) => (
                  <div>
                    {user_agent ?? 'unknown'} {current && <Badge status="THIS ONE" />}
                  </div>
                ),
              },
              {
                title: 'Address',
                cell: ({ client_address }) => <span className="nowrap">{client_address ?? 'unknown'}</span>,
              },
              { title: 'Signed in', cell: ({ created_at }) => <Moment at={created_at} /> },
              { title: 'Last used', cell: ({ last_used_at }) => <Moment at={last_used_at} /> },
              { title: 'Ends', cell: ({ expires_at }) => <Moment at={expires_at} /> },
              {
                title: 'Act',
                cell: ({ session_id, current }) =>
                  current ? (
                    <span className="quiet">Sign out above</span>
                  ) : (
                    <button
                      type="button"
                      className="button quiet-button small"
                      onClick={() => setEnding(session_id)}
                    >
                      End it
                    </button>
                  ),
              },
            ]}
          />
          {ending !== null && (
            <Confirm
              title="End this session"
              act="End it"
              {...end}
              onConfirm={() => confirmed(ending)}
              onClose={() => setEnding(null)}
            >
              <p>That device is signed out within two seconds.</p>
            </Confirm>
          )}
        </>
      )}
    </Panel>
  )
}
