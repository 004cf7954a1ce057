import { replayJobSchema } from '@pitboss/contracts/objects/webhook'
import { Link, useParams } from 'wouter'
import type * as z from 'zod'
import { useJob } from '../hooks/use-job.ts'
import { Badge } from '../parts/badge.tsx'
import { CancelJob } from '../parts/cancel-job.tsx'
import { ClosedPage } from '../parts/closed-page.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { useZone } from '../time/zone.tsx'
import { exactText } from '../time/zone-time.ts'

/** One replay: its progress and its end. */
export default function Replay() {
  const { webhook_id = '', replay_id = '' } = useParams()
  const { user, environment } = useDashboard()
  const closed = whyNot(user.role, 'GET /v1/dashboard/webhooks')
  const path = `dashboard/webhooks/${encodeURIComponent(webhook_id)}/replays/${encodeURIComponent(replay_id)}`
  const read = useJob(replayJobSchema, path, { environment }, closed === null)
  if (closed !== null) return <ClosedPage title="Replay" why={closed} />
  return (
    <Page title="Replay" about={<Link href={`/endpoints/${webhook_id}`}>Back to the endpoint</Link>}>
      <Panel read={read}>{(job) => <Job of={job} path={path} />}</Panel>
    </Page>
  )
}

function Job({ of: job, path }: { of: z.output<typeof replayJobSchema>; path: string }) {
  const { zone } = useZone()
  const ended = job.delivered + job.failed
  return (
    <section className="card" aria-label="Replay">
      <p role="status">
        <Badge status={job.status} /> {ended} of {job.created} have ended: {job.delivered} delivered,{' '}
        {job.failed} failed.
      </p>
      <progress
        className="meter"
        aria-label="Progress"
        max={Math.max(job.created, 1)}
        value={job.created === 0 ? 1 : ended}
      />
      <Facts
        facts={{
          From: exactText(job.from, zone),
          To: exactText(job.to, zone),
          Sends: job.only,
          Events: job.types.length === 0 ? 'all' : job.types.join(', '),
          Matched: job.matched,
          Begun: <Moment at={job.created_at} />,
          Ended: <Moment at={job.finished_at} />,
        }}
      />
      <CancelJob of={job} what="replay" path={path} schema={replayJobSchema}>
        What was not sent yet is not sent. What is in flight still counts.
      </CancelJob>
    </section>
  )
}
