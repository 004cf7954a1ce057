import { Moment } from './moment.tsx'

/** A time to come; one that has come already is due. */
export function Due({ at }: { at: string | null }) {
  if (at === null || Date.parse(at) > Date.now()) return <Moment at={at} />
  return (
    <time dateTime={at} title={at}>
      due
    </time>
  )
}
