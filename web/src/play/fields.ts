type Fields = Readonly<Record<string, unknown>> | null

/** A field of a bet or outcome that is a text, else nothing. */
export function textOf(fields: Fields, name: string): string {
  const value = fields?.[name]
  return typeof value === 'string' ? value : ''
}

/** A field of a bet or outcome that is a number, else 0. */
export function numberOf(fields: Fields, name: string): number {
  const value = fields?.[name]
  return typeof value === 'number' ? value : 0
}
