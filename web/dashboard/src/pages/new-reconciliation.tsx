import { reconciliationSchema } from '@pitboss/contracts/objects/reconciliation'
import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { textOf } from '../parts/text-of.ts'
import { useDashboard } from '../session/dashboard-context.ts'
import { useZone } from '../time/zone.tsx'
import { instantOf, localText } from '../time/zone-time.ts'

const bytesMax = 64 * 1024 * 1024
const dayMs = 24 * 60 * 60 * 1000

const orderSchema = z.object({
  ledger: z
    .instanceof(File)
    .refine(({ name }) => name !== '', 'Choose the file of the ledger.')
    .refine(({ size }) => size <= bytesMax, 'It is larger than 64 MiB. Send a shorter time.'),
  from: z.string('Choose a day.'),
  to: z.string('Choose a day.'),
})

/** Sends a ledger to be compared, and goes to the page of the comparison. */
export function NewReconciliation({ onClose }: { onClose: () => void }) {
  const { api, environment } = useDashboard()
  const { zone } = useZone()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const act = useAct(async ({ ledger, from, to }: z.output<typeof orderSchema>) => {
    const query = new URLSearchParams({ environment, from, to }).toString()
    const type = /\.csv$/i.test(ledger.name) ? 'text/csv' : 'application/x-ndjson'
    const { reconciliation_id } = await api.send(
      reconciliationSchema,
      'POST',
      `dashboard/reports/reconciliation?${query}`,
      { body: new Blob([ledger], { type }) },
    )
    await queries.invalidateQueries()
    onClose()
    navigate(`/reconciliation/${reconciliation_id}`)
  })
  const yesterday = localText(new Date(Date.now() - dayMs).toISOString(), zone).slice(0, 10)
  return (
    <Modal title={`Compare a ${environment} ledger`} onClose={onClose}>
      <Form
        schema={orderSchema}
        read={(data) => ({
          ledger: data.get('ledger'),
          from: startOf(textOf(data, 'from'), zone),
          to: endOf(textOf(data, 'to'), zone),
        })}
        send={act.run}
        {...act}
        submit="Compare"
      >
        {(faults) => (
          <>
            <Field
              label="Ledger"
              hint="CSV (.csv) whose first line names transaction_id, type, amount and currency, and player_id where there is one; or a JSON object in each line. At most 200,000 lines."
              fault={faults.ledger ?? faults.body ?? faults['content-type']}
            >
              <input type="file" name="ledger" accept=".csv,.jsonl,.ndjson,.json,.txt" required />
            </Field>
            <Field label={`First day (${zone})`} fault={faults.from}>
              <input type="date" name="from" defaultValue={yesterday} required />
            </Field>
            <Field
              label={`Last day (${zone})`}
              hint="Movements of ours from the first to the last day that the ledger lacks are told as missing."
              fault={faults.to}
            >
              <input type="date" name="to" defaultValue={yesterday} required />
            </Field>
          </>
        )}
      </Form>
    </Modal>
  )
}

const startOf = (day: string, zone: string) => instantOf(`${day}T00:00:00`, zone) ?? undefined

/** The last millisecond of the day, which the clocks of the zone make longer or shorter. */
function endOf(day: string, zone: string): string | undefined {
  const last = instantOf(`${day}T23:59:59`, zone)
  return last === null ? undefined : new Date(Date.parse(last) + 999).toISOString()
}
