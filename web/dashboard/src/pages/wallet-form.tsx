import { settleLosses, walletPutSchema, walletSchema } from '@pitboss/contracts/objects/wallet'
import { useQueryClient } from '@tanstack/react-query'
import type * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { textOf } from '../parts/text-of.ts'

type WalletFormProps = {
  /** Null: there is none yet. */
  readonly of: z.output<typeof walletSchema> | null
  readonly path: string
  readonly onSecret: (secret: string) => void
  readonly onClose: () => void
}

const lossTexts = { none: 'No call to the wallet', zero_credit: 'A credit of zero' } as const

/** Where the wallet is and how it is asked. */
export function WalletForm({ of: wallet, path, onSecret, onClose }: WalletFormProps) {
  const { api, environment } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async (body: z.output<typeof walletPutSchema>) => {
    const { secret } = await api.send(walletSchema, 'PUT', path, { body })
    await queries.invalidateQueries()
    onClose()
    if (secret !== undefined) onSecret(secret)
  })
  return (
    <Modal title={`${environment} wallet`} onClose={onClose}>
      <Form
        schema={walletPutSchema}
        read={(data) => ({
          url: textOf(data, 'url'),
          timeout_ms: Number(data.get('timeout_ms')),
          settle_losses: data.get('settle_losses'),
          ...(data.get('same_ledger') === 'yes' ? { same_ledger: true } : {}),
        })}
        send={act.run}
        {...act}
        submit="Save"
        write={{ method: 'PUT', path }}
      >
        {(faults) => (
          <>
            <Field label="URL" fault={faults.url}>
              <input
                type="url"
                name="url"
                defaultValue={wallet?.url ?? ''}
                maxLength={2048}
                autoComplete="off"
                required
              />
            </Field>
            <Field
              label="Time for an answer in milliseconds"
              hint="1000 to 15000. A stake without an answer in this time is voided."
              fault={faults.timeout_ms}
            >
              <input
                type="number"
                name="timeout_ms"
                min={1000}
                max={15000}
                defaultValue={wallet?.timeout_ms ?? 5000}
              />
            </Field>
            <fieldset className="choices">
              <legend>When a player loses</legend>
              {settleLosses.options.map((option) => (
                <label className="choice" key={option}>
                  <input
                    type="radio"
                    name="settle_losses"
                    value={option}
                    defaultChecked={option === (wallet?.settle_losses ?? 'none')}
                  />
                  {lossTexts[option]}
                </label>
              ))}
            </fieldset>
            {wallet !== null && (
              <label className="choice">
                <input type="checkbox" name="same_ledger" value="yes" />
                <span>
                  The new address serves the same ledger
                  <small>
                    Needed when money is still on its way: retries and reversals of the old address go to the
                    new one.
                  </small>
                </span>
              </label>
            )}
          </>
        )}
      </Form>
    </Modal>
  )
}
