import { walletSchema } from '@pitboss/contracts/objects/wallet'
import { useQueryClient } from '@tanstack/react-query'
import * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { useDashboard } from '../session/dashboard-context.ts'

const hourS = 3600
const overlaps = [
  { seconds: 0, text: 'None: the old secret ends at once' },
  { seconds: hourS, text: 'One hour' },
  { seconds: 24 * hourS, text: 'One day' },
] as const
const rotateBody = z.strictObject({ overlap_s: z.coerce.number<string>() })

type RotateWalletProps = {
  readonly path: string
  readonly onSecret: (secret: string) => void
  readonly onClose: () => void
}

/** Gives the wallet a new secret, with an overlap of choice. */
export function RotateWallet({ path, onSecret, onClose }: RotateWalletProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async (body: z.output<typeof rotateBody>) => {
    const { secret } = await api.send(walletSchema, 'POST', `${path}/rotate-secret`, { body })
    onClose()
    if (secret !== undefined) onSecret(secret)
    await queries.invalidateQueries()
  })
  return (
    <Modal title="Rotate the wallet's secret" onClose={onClose}>
      <Form
        schema={rotateBody}
        read={(data) => ({ overlap_s: data.get('overlap_s') })}
        send={act.run}
        {...act}
        submit="Rotate secret"
        write={{ method: 'POST', path: `${path}/rotate-secret` }}
      >
        {(faults) => (
          <Field
            label="Overlap"
            hint="So long each call carries a signature by the new secret and one by the old, separated by a space; your wallet has to take either. Without overlap it refuses our requests until it has the new one, and stakes fail."
            fault={faults.overlap_s}
          >
            <select name="overlap_s" defaultValue={0}>
              {overlaps.map(({ seconds, text }) => (
                <option key={seconds} value={seconds}>
                  {text}
                </option>
              ))}
            </select>
          </Field>
        )}
      </Form>
    </Modal>
  )
}
