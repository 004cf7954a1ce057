import { useState } from 'react'
import { Field } from './field.tsx'

type PasswordFieldProps = {
  readonly label: string
  readonly name: string
  /** A password that is being chosen, not one that is asked for. */
  readonly isNew?: boolean
  readonly fault: string | undefined
}

/** A password, which can be looked at while it is typed. */
export function PasswordField({ label, name, isNew = false, fault }: PasswordFieldProps) {
  const [shown, setShown] = useState(false)
  return (
    <div className="password">
      <Field
        label={label}
        fault={fault}
        {...(isNew ? { hint: '12 characters or more. A sentence is easy to keep in mind.' } : {})}
      >
        <input
          type={shown ? 'text' : 'password'}
          name={name}
          autoComplete={isNew ? 'new-password' : 'current-password'}
          maxLength={128}
          required
        />
      </Field>
      <label className="tick">
        <input type="checkbox" checked={shown} onChange={(event) => setShown(event.target.checked)} /> Show it
      </label>
    </div>
  )
}
