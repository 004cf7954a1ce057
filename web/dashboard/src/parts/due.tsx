import { useZone } from '../time/zone.tsx'
import { exactText } from '../time/zone-time.ts'
import { Moment } from './moment.tsx'

/** A time to come; one that has come already is due. */
export function Due({ at }: { at: string | null }) {
  const { zone } = useZone()
  if (at === null || Date.parse(at) > Date.now()) return <Moment at={at} />
  return (
    <time dateTime={at} title={exactText(at, zone)}>
      due
    </time>
  )
}
