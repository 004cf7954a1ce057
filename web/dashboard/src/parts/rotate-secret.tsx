import * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Field } from './field.tsx'
import { Form } from './form.tsx'
import { Modal } from './modal.tsx'

const hourS = 3600
const overlaps = [
  { seconds: 0, text: 'None: the old secret ends at once' },
  { seconds: hourS, text: 'One hour' },
  { seconds: 24 * hourS, text: 'One day' },
  { seconds: 7 * 24 * hourS, text: 'Seven days' },
] as const
const rotateBody = z.strictObject({ overlap_s: z.coerce.number<string>() })

type RotateSecretProps = {
  readonly title: string
  readonly hint: string
  /** Of the request. */
  readonly path: string
  /** Overlaps of up to so many days are offered; `usualS` is chosen at first. */
  readonly daysMax: number
  readonly usualS: number
  readonly send: (body: z.output<typeof rotateBody>) => Promise<unknown>
  readonly onClose: () => void
}

/** The dialog in which a secret is replaced, with an overlap of choice. */
export function RotateSecret({ title, hint, path, daysMax, usualS, send, onClose }: RotateSecretProps) {
  const act = useAct(send)
  return (
    <Modal title={title} onClose={onClose}>
      <Form
        schema={rotateBody}
        read={(data) => ({ overlap_s: data.get('overlap_s') })}
        send={act.run}
        {...act}
        submit="Rotate secret"
        write={{ method: 'POST', path }}
      >
        {(faults) => (
          <Field label="Overlap" hint={hint} fault={faults.overlap_s}>
            <select name="overlap_s" defaultValue={usualS}>
              {overlaps
                .filter(({ seconds }) => seconds <= daysMax * 24 * hourS)
                .map(({ seconds, text }) => (
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
