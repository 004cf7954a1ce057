import type { webhookCertificationSchema } from '@pitboss/contracts/objects/certification'
import type { ReactNode } from 'react'
import type * as z from 'zod'
import { DataTable } from './data-table.tsx'
import { Badge } from './badge.tsx'
import { CancelJob } from './cancel-job.tsx'
import { CertificationBadge } from './certification-badge.tsx'
import { Facts } from './facts.tsx'
import { Moment } from './moment.tsx'

type Certification = Omit<z.output<typeof webhookCertificationSchema>, 'webhook_id'>
type Case = Certification['cases'][number]
type Exchange = Case['exchanges'][number]

type ReportProps = {
  readonly of: Certification
  /** What is certified, for the sentence about it: "wallet". */
  readonly what: string
  readonly facts: Readonly<Record<string, ReactNode>>
  /** Its path in the API, and its schema. */
  readonly path: string
  readonly schema: z.ZodType
  /** The reason why this person can't cancel it; null for no reason. */
  readonly refused: string | null
}

/** A certification: its progress, what failed with cost and remedy, then everything that was tried. */
export function CertificationReport({ of: job, what, facts, ...cancel }: ReportProps) {
  const done = job.passed + job.failed + job.skipped
  const failed = job.cases.filter(({ outcome }) => outcome === 'failed')
  const groups = Map.groupBy(job.cases, ({ group }) => group)
  return (
    <>
      <section className="card" aria-label="Certification">
        <p role="status">
          <CertificationBadge of={job} /> {done} of {job.cases_total} cases have run: {job.passed} passed,{' '}
          {job.failed} failed, {job.skipped} skipped.
        </p>
        {job.status === 'RUNNING' && (
          <progress className="meter" aria-label="Progress" max={job.cases_total} value={done} />
        )}
        {job.certified === true && (
          <p>
            <strong>The {what} is certified.</strong> It does what the contract asks.
          </p>
        )}
        {job.reason !== null && <p className="fault">{job.reason}</p>}
        <Facts
          facts={{
            URL: <code>{job.url}</code>,
            ...facts,
            Begun: <Moment at={job.created_at} />,
            Ended: <Moment at={job.finished_at} />,
          }}
        />
        <CancelJob of={job} what="certification" {...cancel}>
          {`No further case runs. What has run stays, and the ${what} is not certified by it.`}
        </CancelJob>
      </section>
      {failed.map((one) => (
        <FailedCase key={one.id} of={one} />
      ))}
      {[...groups].map(([group, cases]) => (
        <details key={group}>
          <summary>
            {group}: {countText(cases)}
          </summary>
          <DataTable
            label={`Cases of ${group}`}
            rows={cases}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Case', cell: ({ title }) => title },
              { title: 'Result', cell: ({ outcome }) => <Badge status={outcome.toUpperCase()} /> },
              { title: 'Time', number: true, cell: ({ duration_ms }) => `${duration_ms} ms` },
              { title: 'What came of it', cell: (one) => <WhatCame of={one} /> },
            ]}
          />
        </details>
      ))}
    </>
  )
}

function countText(cases: readonly Case[]): string {
  return (['passed', 'failed', 'skipped'] as const)
    .map((outcome) => ({ outcome, count: cases.filter((one) => one.outcome === outcome).length }))
    .filter(({ count }) => count > 0)
    .map(({ outcome, count }) => `${count} ${outcome}`)
    .join(', ')
}

function FailedCase({ of: one }: { of: Case }) {
  return (
    <section className="notice" data-tone="problem" aria-label={one.title}>
      <p>
        <strong>Not so: {one.title}.</strong> {one.message}
      </p>
      <p>Why it matters: {one.why}</p>
      <p>What to do: {one.hint}</p>
      <Exchanges of={one} />
    </section>
  )
}

function WhatCame({ of: one }: { of: Case }) {
  return (
    <>
      {one.message !== null && <p>{one.message}</p>}
      <Exchanges of={one} />
    </>
  )
}

function Exchanges({ of: { exchanges, exchanges_total, title } }: { of: Case }) {
  if (exchanges_total === 0) return null
  const which =
    exchanges_total > exchanges.length
      ? `the last ${exchanges.length} of ${exchanges_total}`
      : exchanges_total
  return (
    <details>
      <summary>What was sent and what came back: {which}</summary>
      <pre className="data" tabIndex={0} aria-label={`Exchanges: ${title}`}>
        {exchanges.map(exchangeText).join('\n\n')}
      </pre>
    </details>
  )
}

function exchangeText({ path, headers, body, http_status, answer, error, latency_ms }: Exchange): string {
  const sent = [
    `POST ${path === '' ? '(the address)' : path}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    body,
  ]
  const came =
    http_status === null
      ? [`← nothing: ${error ?? 'no answer'}${latency_ms === null ? '' : `, after ${latency_ms} ms`}`]
      : [`← ${http_status}, after ${latency_ms} ms`, answer ?? '']
  return [...sent, ...came].join('\n')
}
