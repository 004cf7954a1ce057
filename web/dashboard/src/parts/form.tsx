import { type FormEvent, type ReactNode, useState } from 'react'
import type * as z from 'zod'
import type { ApiError } from '../api/api-error.ts'
import { ErrorNotice } from './error-notice.tsx'

export type Faults = Readonly<Record<string, string>>

type FormProps<Schema extends z.ZodType> = {
  /** The body of the request, as the API takes it. */
  readonly schema: Schema
  /** What the controls hold, before it is judged. */
  readonly read: (data: FormData) => unknown
  readonly send: (body: z.output<Schema>) => unknown
  readonly busy: boolean
  readonly error: ApiError | null
  readonly submit: string
  readonly children: (faults: Faults) => ReactNode
  /** Beside the submit button. */
  readonly aside?: ReactNode
  /** The reason why the form cannot be sent by this person. */
  readonly refused?: string | null
}

/** A native form: judged by the schema of its request, then by the service, each fault beside its field. */
export function Form<Schema extends z.ZodType>(props: FormProps<Schema>) {
  const { schema, read, send, busy, error, submit, children, aside, refused = null } = props
  const [own, setOwn] = useState<Faults>({})
  function onSubmit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (busy) return
    const form = event.currentTarget
    const parsed = schema.safeParse(read(new FormData(form)))
    const faults = parsed.success ? {} : faultsOf(parsed.error.issues.map(toFault))
    setOwn(faults)
    if (parsed.success) send(parsed.data)
    else focusOn(form, Object.keys(faults))
  }
  const theirs = faultsOf(error?.details ?? [])
  return (
    <form className="form" onSubmit={onSubmit} noValidate>
      {children({ ...theirs, ...own })}
      <ErrorNotice error={error} />
      {refused !== null && <p className="why">{refused}</p>}
      <div className="buttons">
        {aside}
        <button type="submit" className="button main-button" disabled={busy || refused !== null}>
          {busy ? 'One moment…' : submit}
        </button>
      </div>
    </form>
  )
}

type Fault = { readonly path: string; readonly message: string }
const toFault = (issue: z.core.$ZodIssue): Fault => ({
  path: String(issue.path[0] ?? ''),
  message: issue.message,
})

/** The first fault of each field; an element of a list is its list's. */
function faultsOf(faults: readonly Fault[]): Faults {
  const named: Record<string, string> = {}
  for (const { path, message } of faults) named[path.split(/[.[]/)[0] ?? path] ??= message
  return named
}

function focusOn(form: HTMLFormElement, names: readonly string[]): void {
  const first = [...form.elements].find(
    (control) => control instanceof HTMLElement && names.includes(control.getAttribute('name') ?? ''),
  )
  if (first instanceof HTMLElement) first.focus()
}
