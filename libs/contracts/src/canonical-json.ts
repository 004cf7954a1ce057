/**
 * JSON with sorted object keys and without undefined fields: equal values give equal text.
 * @throws TypeError for a bigint
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, field: unknown) => {
    if (field === null || typeof field !== 'object' || Array.isArray(field)) return field
    return Object.fromEntries(Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}
