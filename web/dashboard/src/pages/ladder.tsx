import type { deliveryDetailSchema } from '@pitboss/contracts/objects/webhook'
import type * as z from 'zod'
import { Due } from '../parts/due.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { useZone } from '../time/zone.tsx'
import { exactText } from '../time/zone-time.ts'

type Rungs = NonNullable<z.output<typeof deliveryDetailSchema>['ladder']>

/** The attempts still to come of a delivery, if each one fails at once. */
export function Ladder({ of: rungs }: { of: Rungs }) {
  const { zone } = useZone()
  return (
    <>
      <h2>Attempts to come</h2>
      <p className="about">
        If every attempt fails at once. The first success ends it; after step 12 the delivery is FAILED, and a
        retry or a replay sends it again.
      </p>
      <DataTable
        label="Attempts to come"
        rows={rungs}
        keyOf={({ step }) => String(step)}
        columns={[
          { title: 'Step of 12', cell: ({ step }) => step },
          { title: 'Due', cell: ({ from }) => <Due at={from} /> },
          {
            title: 'Between',
            cell: ({ from, to }) =>
              from === to ? (
                exactText(from, zone)
              ) : (
                <span>
                  {exactText(from, zone)} <small>and {exactText(to, zone)}</small>
                </span>
              ),
          },
        ]}
      />
    </>
  )
}
