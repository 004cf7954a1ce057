import { useZone } from '../time/zone.tsx'
import { exactText } from '../time/zone-time.ts'
import { relativeText } from './relative-text.ts'

/** A time relative to now, with the exact one in the zone of the page on hover; a dash for none. */
export function Moment({ at }: { at: string | null }) {
  const { zone } = useZone()
  if (at === null) return <span className="quiet">–</span>
  return (
    <time dateTime={at} title={exactText(at, zone)}>
      {relativeText(at, Date.now())}
    </time>
  )
}
