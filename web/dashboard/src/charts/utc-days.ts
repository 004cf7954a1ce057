const dayMs = 24 * 60 * 60 * 1000

/**
 * The UTC days from one instant to another, both included, as `2026-11-25`; none where there are more than
 * `max`.
 */
export function utcDays(from: string, to: string, max: number): string[] {
  const first = Math.floor(Date.parse(from) / dayMs)
  const last = Math.floor(Date.parse(to) / dayMs)
  if (!(last >= first) || last - first >= max) return []
  return Array.from({ length: last - first + 1 }, (_, at) =>
    new Date((first + at) * dayMs).toISOString().slice(0, 10),
  )
}
