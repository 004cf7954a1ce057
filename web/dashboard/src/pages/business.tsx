import { jurisdictionName } from '@pitboss/contracts/jurisdictions'
import { brandSchema, businessPatchSchema, businessSchema } from '@pitboss/contracts/objects/account'
import { pageOf } from '@pitboss/contracts/primitives'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Facts } from '../parts/facts.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { NewBrand } from './new-brand.tsx'
import { SecondPerson } from './second-person.tsx'
import { textOf } from '../parts/text-of.ts'

type Business = z.output<typeof businessSchema>
type Brand = z.output<typeof brandSchema>
const brandsPage = pageOf(brandSchema)

const liveTexts = {
  NONE: 'not asked for yet',
  APPROVED: 'approved',
  SUSPENDED: 'suspended',
  OFF: 'switched off',
} as const

/** The account's own settings and its brands. */
export default function BusinessPage() {
  const { user } = useDashboard()
  const [editing, setEditing] = useState(false)
  const read = useRead(businessSchema, 'business')
  return (
    <Page
      title="Business"
      about="These settings hold for both environments."
      acts={
        <ActButton refused={whyNot(user.role, 'PATCH /v1/business')} onPress={() => setEditing(true)}>
          Change settings
        </ActButton>
      }
    >
      <Panel read={read}>
        {(business) => (
          <section className="card" aria-label="Business">
            <Facts
              facts={{
                Name: business.name,
                Account: <code>{business.operator_id}</code>,
                Plan: business.plan,
                'Real money': liveTexts[business.live_status],
                Currencies: business.currencies.join(', '),
                'Time zone': business.timezone,
                'Jurisdiction of new sessions': business.default_jurisdiction,
                'Second factor': business.require_totp ? 'demanded of everybody' : 'left to each person',
              }}
            />
            {editing && <ChangeBusiness of={business} onClose={() => setEditing(false)} />}
          </section>
        )}
      </Panel>
      {read.data !== undefined && <SecondPerson isWanted={read.data.second_person === true} />}
      <h2>Brands</h2>
      <Brands />
    </Page>
  )
}

function ChangeBusiness({ of: business, onClose }: { of: Business; onClose: () => void }) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async (body: z.output<typeof businessPatchSchema>) => {
    await api.send(businessSchema, 'PATCH', 'business', { body })
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Modal title="Change settings" onClose={onClose}>
      <Form
        schema={businessPatchSchema}
        read={(data) => ({
          name: textOf(data, 'name'),
          currencies: textOf(data, 'currencies')
            .split(/[\s,]+/)
            .filter((code) => code !== ''),
          timezone: textOf(data, 'timezone'),
          require_totp: data.get('require_totp') === 'yes',
          default_jurisdiction: textOf(data, 'default_jurisdiction'),
        })}
        send={act.run}
        {...act}
        submit="Save"
        write={{ method: 'PATCH', path: 'business' }}
      >
        {(faults) => (
          <>
            <Field label="Name" fault={faults.name}>
              <input
                type="text"
                name="name"
                defaultValue={business.name}
                maxLength={128}
                autoComplete="off"
              />
            </Field>
            <Field
              label="Currencies"
              hint="All of them, with commas between. One that an active session uses can't go."
              fault={faults.currencies}
            >
              <input
                type="text"
                name="currencies"
                defaultValue={business.currencies.join(', ')}
                autoComplete="off"
              />
            </Field>
            <Field
              label="Time zone"
              hint="Such as Europe/Malta. Times are shown in it; days of reports are UTC days."
              fault={faults.timezone}
            >
              <input
                type="text"
                name="timezone"
                defaultValue={business.timezone}
                maxLength={64}
                autoComplete="off"
              />
            </Field>
            <Field
              label="Jurisdiction of new sessions"
              hint="Of sessions that name none. NONE adds no rule."
              fault={faults.default_jurisdiction}
            >
              <select name="default_jurisdiction" defaultValue={business.default_jurisdiction ?? 'NONE'}>
                {jurisdictionName.options.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </Field>
            <label className="choice">
              <input type="checkbox" name="require_totp" value="yes" defaultChecked={business.require_totp} />
              <span>
                Demand a second factor of everybody
                <small>Who has none sees nothing but its enrolment from then on, you included.</small>
              </span>
            </label>
          </>
        )}
      </Form>
    </Modal>
  )
}

function Brands() {
  const { api, user } = useDashboard()
  const queries = useQueryClient()
  const read = useRead(brandsPage, 'dashboard/brands', { limit: '200' })
  const [creating, setCreating] = useState(false)
  const [removing, setRemoving] = useState<Brand | null>(null)
  const remove = useAct(async ({ brand_id }: Brand) => {
    await api.send(null, 'DELETE', `dashboard/brands/${encodeURIComponent(brand_id)}`)
    await queries.invalidateQueries()
    setRemoving(null)
  })
  const refused = whyNot(user.role, 'POST /v1/dashboard/brands')
  return (
    <Panel read={read}>
      {({ data }) => (
        <>
          {data.length === 0 ? (
            <p className="about">None. Brands tell your casinos apart in sessions and reports.</p>
          ) : (
            <DataTable
              label="Brands"
              rows={data}
              keyOf={({ brand_id }) => brand_id}
              columns={[
                { title: 'Name', cell: ({ name }) => name },
                { title: 'Id', cell: ({ brand_id }) => <code>{brand_id}</code> },
                { title: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
                {
                  title: 'Act',
                  cell: (brand) => (
                    <button
                      type="button"
                      className="button quiet-button small"
                      disabled={refused !== null}
                      onClick={() => setRemoving(brand)}
                    >
                      Remove<span className="unseen"> {brand.name}</span>
                    </button>
                  ),
                },
              ]}
            />
          )}
          <ActButton refused={refused} onPress={() => setCreating(true)}>
            Create brand
          </ActButton>
          {creating && <NewBrand onClose={() => setCreating(false)} />}
          {removing !== null && (
            <Confirm
              title={`Remove ${removing.name}`}
              act="Remove"
              grave
              {...remove}
              onConfirm={() => remove.run(removing)}
              onClose={() => setRemoving(null)}
            >
              <p>New sessions can't name it any more. What was played under it stays.</p>
            </Confirm>
          )}
        </>
      )}
    </Panel>
  )
}
