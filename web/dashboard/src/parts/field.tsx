import { type ReactElement, type ReactNode, cloneElement, useId } from 'react'

type Control = { id?: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }

type FieldProps = {
  readonly label: string
  readonly hint?: ReactNode
  readonly fault?: string | undefined
  /** One input, select or textarea. */
  readonly children: ReactElement<Control>
}

/** A control with its label, a hint and what is wrong with it. */
export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, fault === undefined ? '' : `${id}-fault`]
  const describedBy = described.filter((one) => one !== '').join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {cloneElement(children, {
        id,
        ...(describedBy === '' ? {} : { 'aria-describedby': describedBy }),
        ...(fault === undefined ? {} : { 'aria-invalid': true }),
      })}
      {hint !== undefined && (
        <div className="hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {fault !== undefined && (
        <p className="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  )
}
