const dayMs = 24 * 60 * 60 * 1000
const windowDays = 7

export type WindowQuery = { from?: string | undefined; to?: string | undefined }

/** Reads a list's time window: `to` without `from` ends seven days. Source: docs/contract.md, section 11. */
export function readWindow({ from, to }: WindowQuery): { from: Date | undefined; to: Date | undefined } {
  const end = to === undefined ? undefined : new Date(to)
  if (from !== undefined) return { from: new Date(from), to: end }
  return { from: end === undefined ? undefined : new Date(end.getTime() - windowDays * dayMs), to: end }
}
