import { useEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { ApiError } from '../api/api-error.ts'
import { Badge } from '../parts/badge.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import type { Judgement } from './judge-nonce.ts'
import { nothingYet, type Progress, recompute } from './recompute.ts'
import { useDashboard } from '../session/dashboard-context.ts'

type RecomputeCardProps = {
  readonly path: string
  /** Environment and range. */
  readonly query: Readonly<Record<string, string | undefined>>
  readonly range: string
}

const badges = { verified: 'VERIFIED', open: 'OPEN', gap: 'MISSING', mismatch: 'MISMATCH' } as const

/** Computes the rounds of a range again in this browser, and tells gaps and mismatches in words. */
export function RecomputeCard({ path, query, range }: RecomputeCardProps) {
  const { api } = useDashboard()
  const running = useRef<AbortController | null>(null)
  const [state, setState] = useState<'new' | 'running' | 'stopped' | 'done'>('new')
  const [progress, setProgress] = useState<Progress>(nothingYet)
  const [error, setError] = useState<ApiError | null>(null)
  useEffect(() => () => running.current?.abort(), [])

  async function run() {
    const stop = new AbortController()
    running.current = stop
    setState('running')
    setError(null)
    setProgress(nothingYet)
    try {
      await recompute(api, path, query, stop.signal, setProgress)
      setState('done')
    } catch (failure) {
      setState('stopped')
      if (stop.signal.aborted) return
      if (failure instanceof ApiError) setError(failure)
      // The nearest error boundary shows a fault of the page itself.
      else
        setState(() => {
          throw failure
        })
    }
  }

  return (
    <section className="card" aria-label="Compute again">
      <h2>Compute again</h2>
      <p className="about">
        Reads {range} and computes each round again here, in your browser, by the code of the public
        verification page.
      </p>
      <div className="acts">
        <button
          type="button"
          className="button main-button"
          disabled={state === 'running'}
          onClick={() => void run()}
        >
          {state === 'running' ? 'Computing…' : 'Compute again'}
        </button>
        {state === 'running' && (
          <button type="button" className="button quiet-button" onClick={() => running.current?.abort()}>
            Stop
          </button>
        )}
      </div>
      <ErrorNotice error={error} />
      <div role="status">{state !== 'new' && <p>{summaryOf(state, progress)}</p>}</div>
      {progress.findings.length > 0 && <Findings of={progress.findings} />}
    </section>
  )
}

function Findings({ of: findings }: { of: readonly Judgement[] }) {
  return (
    <DataTable
      label="Findings"
      rows={findings}
      keyOf={({ nonce }) => String(nonce)}
      columns={[
        { title: 'Nonce', number: true, cell: ({ nonce }) => nonce },
        { title: 'Verdict', cell: ({ verdict }) => <Badge status={badges[verdict]} /> },
        { title: 'Why', cell: ({ words }) => words },
        {
          title: 'Round',
          cell: ({ roundId }) =>
            roundId === null ? '–' : <Link href={`/rounds/${roundId}`}>Open the round</Link>,
        },
      ]}
    />
  )
}

const number = new Intl.NumberFormat('en')
const counted = (count: number, one: string, many: string) =>
  `${number.format(count)} ${count === 1 ? one : many}`

/** How far it has come and what was found, in one sentence or two. */
function summaryOf(state: 'running' | 'stopped' | 'done', { looked, counts }: Progress): string {
  if (state === 'done' && looked === 0) return 'There is no nonce in this range.'
  const found = [
    counted(counts.verified, 'round verifies', 'rounds verify'),
    counted(counts.mismatch, 'mismatch', 'mismatches'),
    counted(counts.gap, 'gap', 'gaps'),
    `${number.format(counts.open)} not over yet`,
  ].join(', ')
  const how = { running: 'So far', stopped: 'Stopped after', done: 'All' } as const
  const verdict =
    state !== 'done'
      ? ''
      : counts.mismatch + counts.gap === 0
        ? ' Nothing is missing and nothing differs.'
        : ' The table says what is missing or differs.'
  return `${how[state]} ${counted(looked, 'nonce', 'nonces')}: ${found}.${verdict}`
}
