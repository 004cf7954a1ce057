import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { useDashboard } from '../session/dashboard-context.ts'
import { ActButton } from './act-button.tsx'
import { Confirm } from './confirm.tsx'

type CancelProps = {
  readonly of: { readonly status: string }
  /** What the job is, as "certification". */
  readonly what: string
  /** The job's path in the API, and its schema. */
  readonly path: string
  readonly schema: z.ZodType
  /** The reason why this person can't; null for no reason. */
  readonly refused?: string | null
  /** What becomes of what was done so far. */
  readonly children: string
}

/** Asks once, then ends a job that runs. Nothing for one that has ended. */
export function CancelJob({ of: { status }, what, path, schema, refused = null, children }: CancelProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [asking, setAsking] = useState(false)
  const cancel = useAct(async () => {
    await api.send(schema, 'POST', `${path}/cancel`)
    await queries.invalidateQueries()
    setAsking(false)
  })
  if (status !== 'RUNNING') return null
  return (
    <>
      <div className="buttons">
        <ActButton refused={refused} onPress={() => setAsking(true)}>
          {`Cancel ${what}`}
        </ActButton>
      </div>
      {asking && (
        <Confirm
          title={`Cancel the ${what}`}
          act={`Cancel ${what}`}
          grave
          {...cancel}
          onConfirm={cancel.run}
          onClose={() => setAsking(false)}
        >
          <p>{children}</p>
        </Confirm>
      )}
    </>
  )
}
