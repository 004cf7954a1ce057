import { type FlagCase, flagCaseSchema, flagPatchSchema } from '@pitboss/contracts/objects/flag'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import type * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Facts } from '../parts/facts.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { textOf } from '../parts/text-of.ts'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'
import { flagTexts } from './flag-texts.ts'

const route = 'PATCH /v1/dashboard/flags/{flag_id}'

/** One flag with its movements and its case. */
export default function FlagPage() {
  const { flag_id: id = '' } = useParams()
  const { environment } = useDashboard()
  const path = `dashboard/flags/${encodeURIComponent(id)}`
  const read = useRead(flagCaseSchema, path, { environment })
  return (
    <Page title="Flag">
      <Panel read={read}>
        {(flag) => (
          <>
            <StatusActs of={flag} path={path} />
            <section className="card" aria-label="Flag">
              <FlagFacts of={flag} />
            </section>
            <h2>Movements</h2>
            <ul className="links">
              {flag.transaction_ids.map((one) => (
                <li key={one}>
                  <Link href={`/transactions/${encodeURIComponent(one)}`}>
                    <code>{one}</code>
                  </Link>
                </li>
              ))}
            </ul>
            <h2>Notes</h2>
            <Notes of={flag} />
            <AddNote path={path} key={flag.notes.length} />
          </>
        )}
      </Panel>
    </Page>
  )
}

function FlagFacts({ of: flag }: { of: FlagCase }) {
  const { player_id: player, round_id: round } = flag
  return (
    <Facts
      facts={{
        What: flagTexts[flag.rule],
        Status: <Badge status={flag.status} />,
        Player:
          player === null ? undefined : (
            <Link href={`/player?player_id=${encodeURIComponent(player)}`}>{player}</Link>
          ),
        Amount: flag.amount === null ? undefined : `${flag.amount} ${flag.currency ?? ''}`,
        Game: flag.game ?? undefined,
        Round:
          round === null ? undefined : (
            <Link href={`/rounds/${round}`}>The round with its money picture</Link>
          ),
        Happened: <Moment at={flag.happened_at} />,
        Raised: <Moment at={flag.raised_at} />,
        Id: (
          <>
            <code>{flag.flag_id}</code> <CopyButton text={flag.flag_id} what="id" />
          </>
        ),
      }}
    />
  )
}

function Notes({ of: { notes } }: { of: FlagCase }) {
  if (notes.length === 0) return <p className="about">Nobody has written anything yet.</p>
  return (
    <ol className="notes" aria-label="Notes">
      {notes.map(({ at, by, text }, index) => (
        <li key={`${at} ${index}`}>
          <p>{text}</p>
          <p className="quiet">
            {by}, <Moment at={at} />
          </p>
        </li>
      ))}
    </ol>
  )
}

type Patch = z.output<typeof flagPatchSchema>

function useChange(path: string) {
  const { api, environment } = useDashboard()
  const queries = useQueryClient()
  return useAct(async (body: Patch) => {
    await api.send(flagCaseSchema, 'PATCH', `${path}?environment=${environment}`, { body })
    await queries.invalidateQueries()
  })
}

function StatusActs({ of: { status }, path }: { of: FlagCase; path: string }) {
  const { user } = useDashboard()
  const change = useChange(path)
  const refused = whyNot(user.role, route)
  const press = (name: string, next: FlagCase['status'], look: 'main-button' | 'quiet-button') => (
    <ActButton
      look={look}
      refused={refused}
      busy={change.busy}
      onPress={() => void change.run({ status: next })}
    >
      {name}
    </ActButton>
  )
  return (
    <>
      <div className="acts">
        {status === 'OPEN' && press('Take it', 'IN_REVIEW', 'main-button')}
        {status === 'CLOSED'
          ? press('Open it again', 'OPEN', 'quiet-button')
          : press('Close it', 'CLOSED', 'quiet-button')}
      </div>
      <ErrorNotice error={change.error} />
    </>
  )
}

function AddNote({ path }: { path: string }) {
  const { user, environment } = useDashboard()
  const change = useChange(path)
  const [text, setText] = useState('')
  return (
    <Form
      schema={flagPatchSchema}
      read={(data) => ({ note: textOf(data, 'note') })}
      send={change.run}
      {...change}
      submit="Add note"
      write={{ method: 'PATCH', path: `${path}?environment=${environment}` }}
      refused={whyNot(user.role, route)}
    >
      {(faults) => (
        <Field label="Note" hint="It stays, with your name and the time." fault={faults.note}>
          <textarea
            name="note"
            rows={3}
            maxLength={1000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
      )}
    </Form>
  )
}
