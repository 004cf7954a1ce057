import { type FormEvent, type ReactNode, useState } from 'react'
import type * as z from 'zod'
import type { ApiError } from '../api/api-error.ts'
import { CopyButton } from './copy-button.tsx'
import { curlOfWrite, type Write } from './curl-text.ts'
import { ErrorNotice } from './error-notice.tsx'
import { type Faults, faultsOf, judgeBody } from './judge-body.ts'

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
  /** What the form sends, for who wants it as a command; left out where the body holds a secret. */
  readonly write?: Write
  /** The reason why the form cannot be sent by this person. */
  readonly refused?: string | null
}

/** A native form: judged by the schema of its request, then by the service, each fault beside its field. */
export function Form<Schema extends z.ZodType>(props: FormProps<Schema>) {
  const { schema, read, send, busy, error, submit, children, aside, write, refused = null } = props
  const [own, setOwn] = useState<Faults>({})
  const [curl, setCurl] = useState<string | null>(null)
  function withBody(form: HTMLFormElement, use: (body: z.output<Schema>) => unknown) {
    const judged = judgeBody(schema, read(new FormData(form)))
    const faults = 'faults' in judged ? judged.faults : {}
    setOwn(faults)
    if ('body' in judged) use(judged.body)
    else focusOn(form, Object.keys(faults))
  }
  function onSubmit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!busy) withBody(event.currentTarget, send)
  }
  const theirs = faultsOf(error?.details ?? [])
  return (
    <form className="form" onSubmit={onSubmit} onChange={() => setCurl(null)} noValidate>
      {children({ ...theirs, ...own })}
      <ErrorNotice error={error} />
      {refused !== null && <p className="why">{refused}</p>}
      <div className="buttons">
        {aside}
        {write !== undefined && (
          <button
            type="button"
            className="button quiet-button"
            onClick={({ currentTarget: { form } }) =>
              form !== null &&
              withBody(form, (body) => setCurl(curlOfWrite(window.location.origin, write, body)))
            }
          >
            As curl
          </button>
        )}
        <button type="submit" className="button main-button" disabled={busy || refused !== null}>
          {busy ? 'One moment…' : submit}
        </button>
      </div>
      {curl !== null && (
        <>
          <pre className="data" tabIndex={0} aria-label="Command">
            {curl}
          </pre>
          <CopyButton text={curl} what="command" />
        </>
      )}
    </form>
  )
}

function focusOn(form: HTMLFormElement, names: readonly string[]): void {
  const first = [...form.elements].find(
    (control) => control instanceof HTMLElement && names.includes(control.getAttribute('name') ?? ''),
  )
  if (first instanceof HTMLElement) first.focus()
}
