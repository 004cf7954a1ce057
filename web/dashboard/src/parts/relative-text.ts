const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** "5 minutes ago", "in 2 hours"; weeks and more are days. */
export function relativeText(iso: string, nowMs: number): string {
  const seconds = Math.round((Date.parse(iso) - nowMs) / 1000)
  for (const [unit, length] of units)
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit)
  return 'now'
}
