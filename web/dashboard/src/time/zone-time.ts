/** Times of a zone of the IANA list ("UTC", "Asia/Kathmandu"). A zone here is one that `isZone` takes. */

const secondMs = 1000
const dayMs = 24 * 60 * 60 * secondMs

const formats = new Map<string, Intl.DateTimeFormat>()

/** Making a format is slow, so each zone's is kept; there are as many as a person has chosen. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    ...({ year: 'numeric', month: '2-digit', day: '2-digit' } as const),
    ...({ hour: '2-digit', minute: '2-digit', second: '2-digit' } as const),
  })
  formats.set(zone, made)
  return made
}

/** Whether the browser knows this zone. Offsets such as "+02:00" are no zones: they know no summer. */
export function isZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false
  try {
    formatOf(text)
    return true
  } catch {
    return false
  }
}

/** What the clocks of the zone show, as `2026-11-25T21:35:57`. @param iso an instant */
export function localText(iso: string, zone: string): string {
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(Date.parse(iso))
      .map(({ type, value }) => [type, value]),
  )
  const { year = '', month, day, hour, minute, second } = parts
  return `${year.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}`
}

/** The exact time with its distance from UTC, as `2026-11-25 21:35:57.262 +05:45`; UTC itself as ISO. */
export function exactText(iso: string, zone: string): string {
  const at = new Date(iso).toISOString()
  if (zone === 'UTC') return at
  const local = localText(iso, zone)
  return `${local.replace('T', ' ')}${at.slice(19, 23)} ${offsetText(offsetMs(at, local))}`
}

/**
 * The instant at which the clocks of the zone show `local`; null for text that is no time. Of an hour that
 * comes twice it is the first one. An hour that the clocks leave out is read as if they did not.
 */
export function instantOf(local: string, zone: string): string | null {
  const asUtc = Date.parse(`${local}Z`)
  if (Number.isNaN(asUtc)) return null
  const offsetAt = (ms: number) => {
    const iso = new Date(ms).toISOString()
    return offsetMs(iso, localText(iso, zone))
  }
  // The distance changes at most once within two days, so one of these two is that of the local time.
  const [before, after] = [offsetAt(asUtc - dayMs), offsetAt(asUtc + dayMs)]
  const candidates = [asUtc - before, asUtc - after].toSorted((a, b) => a - b)
  const shown = candidates.find((ms) => asUtc - ms === offsetAt(ms))
  return new Date(shown ?? asUtc - before).toISOString()
}

function offsetMs(iso: string, local: string): number {
  return Date.parse(`${local}Z`) - Math.floor(Date.parse(iso) / secondMs) * secondMs
}

function offsetText(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / (60 * secondMs))
  const two = (count: number) => String(count).padStart(2, '0')
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
}
