import { Field } from '../parts/field.tsx'
import { textOf } from '../parts/text-of.ts'

type AllowlistFieldProps = { readonly addresses: readonly string[]; readonly fault: string | undefined }

/** The addresses from which a key works, one a line. */
export function AllowlistField({ addresses, fault }: AllowlistFieldProps) {
  return (
    <Field
      label="Allowed addresses"
      hint="One address or range a line, such as 203.0.113.0/24. Empty: from everywhere. It needs the paid plan and an approved account."
      fault={fault}
    >
      <textarea name="ip_allowlist" rows={2} defaultValue={addresses.join('\n')} spellCheck={false} />
    </Field>
  )
}

export function readAllowlist(data: FormData): string[] {
  return textOf(data, 'ip_allowlist')
    .split(/[\s,]+/)
    .filter((line) => line !== '')
}
