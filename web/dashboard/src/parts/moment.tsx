import { relativeText } from './relative-text.ts'

/** A time relative to now, with the exact one on hover; a dash for none. */
export function Moment({ at }: { at: string | null }) {
  if (at === null) return <span className="quiet">–</span>
  return (
    <time dateTime={at} title={at}>
      {relativeText(at, Date.now())}
    </time>
  )
}
