import { type View, viewCreateSchema, viewSchema } from '@pitboss/contracts/objects/account'
import type { User } from '@pitboss/contracts/objects/user'
import { pageOf } from '@pitboss/contracts/primitives'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import type * as z from 'zod'
import { ApiError } from '../api/api-error.ts'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { ActButton } from './act-button.tsx'
import { DataTable } from './data-table.tsx'
import { ErrorNotice } from './error-notice.tsx'
import { Field } from './field.tsx'
import { Form } from './form.tsx'
import { Modal } from './modal.tsx'
import { textOf } from './text-of.ts'

const viewsPage = pageOf(viewSchema)
const viewsMax = '200'

/** The saved views of this page, each a link, and the way to save the filters of the address as one. */
export function SavedViews() {
  const { user } = useDashboard()
  const [page] = useLocation()
  useSearch()
  const query = filtersOf(window.location.search)
  const read = useRead(viewsPage, 'dashboard/views', { page, limit: viewsMax })
  const [open, setOpen] = useState<'save' | 'remove' | null>(null)
  const views = read.data?.data ?? []
  const refused = whyNot(user.role, 'POST /v1/dashboard/views')
  if (read.error !== null && !(read.error instanceof ApiError)) throw read.error
  if (views.length === 0 && (query === '' || refused !== null)) return <ErrorNotice error={read.error} />
  return (
    <nav className="views" aria-label="Saved views">
      <ErrorNotice error={read.error} />
      {views.map((view) => (
        <Link
          key={view.view_id}
          className="view"
          href={view.query === '' ? page : `${page}?${view.query}`}
          aria-current={view.query === query ? 'page' : undefined}
        >
          {view.name}
        </Link>
      ))}
      {query !== '' && !views.some((view) => view.query === query) && (
        <ActButton refused={refused} onPress={() => setOpen('save')}>
          Save this view
        </ActButton>
      )}
      {views.length > 0 && refused === null && (
        <ActButton onPress={() => setOpen('remove')}>Remove a view</ActButton>
      )}
      {open === 'save' && <SaveView page={page} query={query} onClose={() => setOpen(null)} />}
      {open === 'remove' && <RemoveViews of={views} onClose={() => setOpen(null)} />}
    </nav>
  )
}

/** The filters of an address; the place in the list and the zone are none. */
function filtersOf(search: string): string {
  const given = new URLSearchParams(search)
  given.delete('cursor')
  given.delete('zone')
  return given.toString()
}

function SaveView({ page, query, onClose }: { page: string; query: string; onClose: () => void }) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const act = useAct(async (body: z.output<typeof viewCreateSchema>) => {
    await api.send(viewSchema, 'POST', 'dashboard/views', { body, idempotencyKey })
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Modal title="Save this view" onClose={onClose}>
      <Form
        schema={viewCreateSchema}
        read={(data) => ({ name: textOf(data, 'name'), page, query })}
        send={act.run}
        {...act}
        submit="Save view"
        write={{ method: 'POST', path: 'dashboard/views' }}
      >
        {(faults) => (
          <Field
            label="Name"
            hint="Everybody of the account sees it above this list."
            fault={faults.name ?? faults.query}
          >
            <input type="text" name="name" maxLength={64} autoComplete="off" required />
          </Field>
        )}
      </Form>
    </Modal>
  )
}

/** A view is removed by who made it, an OWNER or an ADMIN. */
function whyNoRemoval({ user_id, role }: User, { made_by }: View): string | null {
  if (role === 'OWNER' || role === 'ADMIN' || made_by.user_id === user_id) return null
  return `${made_by.email} made it; an OWNER or ADMIN can remove it, too.`
}

function RemoveViews({ of: views, onClose }: { of: readonly View[]; onClose: () => void }) {
  const { api, user } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async ({ view_id }: View) => {
    await api.send(null, 'DELETE', `dashboard/views/${view_id}`)
    await queries.invalidateQueries()
  })
  return (
    <Modal title="Remove a view" onClose={onClose}>
      <ErrorNotice error={act.error} />
      <DataTable
        label="Views"
        rows={views}
        keyOf={({ view_id }) => view_id}
        columns={[
          { title: 'Name', cell: ({ name }) => name },
          { title: 'Made by', cell: ({ made_by }) => made_by.email },
          {
            title: 'Act',
            cell: (view) => (
              <button
                type="button"
                className="button quiet-button small"
                disabled={act.busy || whyNoRemoval(user, view) !== null}
                title={whyNoRemoval(user, view) ?? undefined}
                onClick={() => void act.run(view)}
              >
                Remove<span className="unseen"> {view.name}</span>
              </button>
            ),
          },
        ]}
      />
    </Modal>
  )
}
