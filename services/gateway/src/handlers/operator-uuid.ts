/** The uuid behind an `op_` handle; null for anything else. */
export function operatorUuid(handle: string): string | null {
  const hex = /^op_([0-9a-f]{32})$/.exec(handle)?.[1]
  if (hex === undefined) return null
  return [8, 12, 16, 20, 32].map((end, part) => hex.slice([0, 8, 12, 16, 20][part], end)).join('-')
}
