import { overviewSchema } from '@pitboss/contracts/objects/overview'
import type * as z from 'zod'
import { useRead } from '../hooks/use-read.ts'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { Attention } from './attention.tsx'
import { FirstSteps } from './first-steps.tsx'
import { LastDay } from './last-day.tsx'

export type Overview = z.output<typeof overviewSchema>

/** What needs attention first, then the last day, then the first steps as long as one is open. */
export default function Home() {
  const { environment } = useDashboard()
  const read = useRead(overviewSchema, 'dashboard/overview', { environment }, { everyMs: 30_000 })
  return (
    <Page title="Home">
      <Panel read={read}>
        {(overview) => (
          <>
            <Attention of={overview} />
            <LastDay of={overview} />
            <FirstSteps of={overview.steps} />
          </>
        )}
      </Panel>
    </Page>
  )
}
