/** The text of a control by its name, without spaces around it; none where the form has no such control. */
export function textOf(data: FormData, name: string): string {
  const value = data.get(name)
  return typeof value === 'string' ? value.trim() : ''
}
