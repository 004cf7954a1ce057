import type { TailKind } from '@pitboss/contracts/objects/tail'
import { useEffect, useRef, useState } from 'react'
import type * as z from 'zod'
import type { QueryValues } from '../api/create-api.ts'
import { useTail } from '../hooks/use-tail.ts'
import { type Column, DataTable } from './data-table.tsx'
import { ErrorNotice } from './error-notice.tsx'

type LiveTailProps<Row> = {
  readonly label: string
  readonly kind: TailKind
  /** Of one record. */
  readonly schema: z.ZodType<Row>
  /** Environment and filters. */
  readonly query: QueryValues
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly hrefOf?: (row: Row) => string
}

/**
 * "Follow": what happens now, newest first, above the list. It holds still under the pointer and when
 * scrolled away.
 */
export function LiveTail<Row>({ label, kind, schema, query, columns, keyOf, hrefOf }: LiveTailProps<Row>) {
  const [following, setFollowing] = useState(false)
  const [over, setOver] = useState(false)
  const [away, setAway] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const paused = following && (over || away)
  const { rows, held, missed, link, error } = useTail({
    query: following ? { ...query, kinds: kind } : null,
    schema,
    keyOf,
    paused,
  })
  useEffect(() => {
    const look = () => setAway((place.current?.getBoundingClientRect().top ?? 0) < 0)
    window.addEventListener('scroll', look, { passive: true })
    return () => window.removeEventListener('scroll', look)
  }, [])
  return (
    <div className="tail" ref={place}>
      <div className="tail-head">
        <button
          type="button"
          className="button"
          aria-pressed={following}
          onClick={() => setFollowing(!following)}
        >
          {following ? 'Stop following' : 'Follow'}
        </button>
        {following && (
          <p className="quiet" role="status">
            {error === null && linkTexts[link]}
            {missed > 0 && ` ${missed} missed; the list has them.`}
            {held.length > 0 && ` Paused: ${held.length} more.`}
          </p>
        )}
      </div>
      {following && error !== null && <ErrorNotice error={error} />}
      {following && rows.length > 0 && (
        // The pointer alone pauses; a keyboard goes through the rows without losing them.
        <div onPointerEnter={() => setOver(true)} onPointerLeave={() => setOver(false)}>
          <DataTable
            label={`${label} as they happen`}
            rows={rows}
            columns={columns}
            keyOf={keyOf}
            {...(hrefOf === undefined ? {} : { hrefOf })}
          />
        </div>
      )}
    </div>
  )
}

const linkTexts = {
  opening: 'Connecting…',
  live: 'Live: what happens from now on appears here.',
  lost: 'The connection is lost; trying again.',
} as const
