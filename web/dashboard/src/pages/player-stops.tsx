import {
  type PlayerStop,
  stopCreateSchema,
  stopLiftSchema,
  stopSchema,
} from '@pitboss/contracts/objects/player-stop'
import { pageOf } from '@pitboss/contracts/primitives'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Badge } from '../parts/badge.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { Moment } from '../parts/moment.tsx'
import { Panel } from '../parts/panel.tsx'
import { saveFile } from '../parts/save-file.ts'
import { textOf } from '../parts/text-of.ts'
import { useZone } from '../time/zone.tsx'
import { instantOf } from '../time/zone-time.ts'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'

const stopsPage = pageOf(stopSchema)
const routes = {
  stop: 'POST /v1/dashboard/players/{player_id}/stop',
  lift: 'POST /v1/dashboard/players/{player_id}/stop/lift',
} as const
type Dialog = keyof typeof routes

/** The stops of a player, with the acts that begin, lengthen and lift one. */
export function PlayerStops({ playerId }: { playerId: string }) {
  const { environment, user } = useDashboard()
  const [asking, setAsking] = useState<Dialog | null>(null)
  const path = `dashboard/players/${encodeURIComponent(playerId)}`
  const read = useRead(stopsPage, `${path}/stops`, { environment })
  return (
    <>
      <h2>Stops</h2>
      <Panel read={read}>
        {({ data: [newest, ...earlier] }) => {
          const inForce = newest?.status === 'IN_FORCE'
          const nothing = inForce ? null : 'No stop of this player is in force.'
          return (
            <>
              <div className="acts">
                <ActButton refused={whyNot(user.role, routes.stop)} onPress={() => setAsking('stop')}>
                  {inForce ? 'Stop for longer' : 'Stop player'}
                </ActButton>
                <ActButton
                  refused={whyNot(user.role, routes.lift) ?? nothing}
                  onPress={() => setAsking('lift')}
                >
                  Lift stop
                </ActButton>
              </div>
              {newest === undefined ? (
                <p className="about">This player was never stopped.</p>
              ) : (
                <StopTable of={[newest, ...earlier]} />
              )}
            </>
          )
        }}
      </Panel>
      {asking === 'stop' && <StopForm path={path} playerId={playerId} onClose={() => setAsking(null)} />}
      {asking === 'lift' && <LiftForm path={path} playerId={playerId} onClose={() => setAsking(null)} />}
    </>
  )
}

function StopTable({ of: stops }: { of: PlayerStop[] }) {
  return (
    <DataTable
      label="Stops"
      rows={stops}
      keyOf={({ stop_id }) => stop_id}
      columns={[
        { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
        { title: 'From', cell: ({ from }) => <Moment at={from} /> },
        { title: 'Until', cell: ({ until }) => (until === null ? 'no end' : <Moment at={until} />) },
        { title: 'Reason', cell: ({ reason }) => reason },
        {
          title: 'Last bet',
          cell: ({ last_bet: bet, rounds_ended_at: ended }) => {
            if (bet === null) return ended === null ? 'rounds are being ended' : 'none'
            return <Link href={`/rounds/${bet.round_id}`}>{`${bet.stake} ${bet.currency}, ${bet.game}`}</Link>
          },
        },
        {
          title: 'Lifted',
          cell: ({ lifted_at: at, lift_reason: why }) =>
            at === null ? (
              '–'
            ) : (
              <>
                <Moment at={at} />, {why}
              </>
            ),
        },
        {
          title: 'Signed record',
          cell: ({ stop_id: id, record, rounds_ended_at: ended }) =>
            record === null ? (
              ended === null ? (
                'when the rounds have ended'
              ) : (
                'not yet'
              )
            ) : (
              <button
                type="button"
                className="button quiet-button small"
                aria-label={`Save the signed record of ${id}`}
                onClick={() => saveFile(`${id}.jws`, record, 'application/jose')}
              >
                Save
              </button>
            ),
        },
      ]}
    />
  )
}

type FormProps = { readonly path: string; readonly playerId: string; readonly onClose: () => void }

function StopForm({ path, playerId, onClose }: FormProps) {
  const { environment } = useDashboard()
  const { zone } = useZone()
  const act = useStopAct(`${path}/stop`, onClose)
  return (
    <Modal title="Stop this player?" onClose={onClose}>
      <p>
        {playerId} begins nothing more, in any game. Sessions are closed. An open round is cashed out if a
        tile is open, else its stake goes back. What is owed is paid.
      </p>
      <Form
        schema={stopCreateSchema}
        read={(data) => {
          const until = instantOf(textOf(data, 'until'), zone)
          return { reason: textOf(data, 'reason'), ...(until === null ? {} : { until }) }
        }}
        send={act.run}
        {...act}
        submit="Stop player"
        write={{ method: 'POST', path: `${path}/stop?environment=${environment}` }}
      >
        {(faults) => (
          <>
            <ReasonField fault={faults.reason} />
            <Field label={`Until (${zone})`} hint="Empty: until somebody lifts it." fault={faults.until}>
              <input type="datetime-local" step="1" name="until" />
            </Field>
          </>
        )}
      </Form>
    </Modal>
  )
}

function LiftForm({ path, playerId, onClose }: FormProps) {
  const { environment } = useDashboard()
  const act = useStopAct(`${path}/stop/lift`, onClose)
  return (
    <Modal title="Lift the stop?" onClose={onClose}>
      <p>{playerId} can play again, in sessions that your server opens from now on.</p>
      <Form
        schema={stopLiftSchema}
        read={(data) => ({ reason: textOf(data, 'reason') })}
        send={act.run}
        {...act}
        submit="Lift stop"
        write={{ method: 'POST', path: `${path}/stop/lift?environment=${environment}` }}
      >
        {(faults) => <ReasonField fault={faults.reason} />}
      </Form>
    </Modal>
  )
}

function ReasonField({ fault }: { fault: string | undefined }) {
  return (
    <Field label="Reason" hint="The record keeps it." fault={fault}>
      <input type="text" name="reason" maxLength={500} autoComplete="off" required />
    </Field>
  )
}

function useStopAct(path: string, onDone: () => void) {
  const { api, environment } = useDashboard()
  const queries = useQueryClient()
  return useAct(async (body: { reason: string; until?: string | undefined }) => {
    await api.send(stopSchema, 'POST', `${path}?environment=${environment}`, { body })
    await queries.invalidateQueries()
    onDone()
  })
}
