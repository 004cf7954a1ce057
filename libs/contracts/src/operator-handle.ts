/**
 * Names an operator account for people: `op_` and its uuid without dashes. Source: docs/contract.md,
 * section 1.
 */
export function operatorHandleOf(operatorId: string): string {
  return `op_${operatorId.replaceAll('-', '')}`
}

/** The uuid behind a handle or a uuid, however its letters are written; null for any other text. */
export function operatorIdOf(text: string): string | null {
  const hex = (text.startsWith('op_') ? text.slice(3) : text.replaceAll('-', '')).toLowerCase()
  if (!/^[0-9a-f]{32}$/.test(hex)) return null
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
