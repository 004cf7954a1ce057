import {
  limitPeriod,
  limitsPutSchema,
  type PlayerLimit,
  type PlayerLimits as LimitsRecord,
  playerLimitsSchema,
  type WantedLimit,
} from '@pitboss/contracts/objects/player-limits'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { Moment } from '../parts/moment.tsx'
import { Panel } from '../parts/panel.tsx'
import { textOf } from '../parts/text-of.ts'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'

const route = 'PUT /v1/dashboard/players/{player_id}/limits'

/** The limits of a player with what is left of them, and the form that sets one. */
export function PlayerLimits({ playerId }: { playerId: string }) {
  const { environment, user } = useDashboard()
  const [asking, setAsking] = useState<WantedLimit | 'new' | null>(null)
  const path = `dashboard/players/${encodeURIComponent(playerId)}/limits`
  const read = useRead(playerLimitsSchema, path, { environment })
  return (
    <>
      <h2>Limits</h2>
      <Panel read={read}>
        {(record) => (
          <>
            <div className="acts">
              <ActButton refused={whyNot(user.role, route)} onPress={() => setAsking('new')}>
                Set a limit
              </ActButton>
            </div>
            {record.limits.length === 0 ? (
              <p className="about">This player has no limit.</p>
            ) : (
              <LimitTable of={record.limits} />
            )}
            {asking !== null && <LimitForm path={path} record={record} onClose={() => setAsking(null)} />}
          </>
        )}
      </Panel>
    </>
  )
}

function LimitTable({ of: limits }: { of: PlayerLimit[] }) {
  return (
    <DataTable
      label="Limits"
      rows={limits}
      keyOf={nameOf}
      columns={[
        { title: 'Limit', cell: nameOf },
        { title: 'Allowed', number: true, cell: (limit) => figuresOf(limit).allowed },
        { title: 'Used', number: true, cell: (limit) => figuresOf(limit).used },
        { title: 'Left', number: true, cell: (limit) => figuresOf(limit).left },
        { title: 'Begins anew', cell: ({ resets_at }) => <Moment at={resets_at} /> },
        {
          title: 'Changes to',
          cell: ({ next }) =>
            next === null ? (
              '–'
            ) : (
              <span>
                {laterText(next)}, <Moment at={next.at} />
              </span>
            ),
        },
      ]}
    />
  )
}

function nameOf(limit: WantedLimit | PlayerLimit): string {
  return limit.kind === 'time'
    ? `time a ${limit.period}`
    : `${limit.kind} a ${limit.period}, ${limit.currency}`
}

function laterText(next: NonNullable<PlayerLimit['next']>): string {
  if ('amount' in next) return next.amount ?? 'no limit'
  return next.minutes === null ? 'no limit' : `${next.minutes} min`
}

function figuresOf(limit: PlayerLimit) {
  return limit.kind === 'time'
    ? {
        allowed: `${limit.minutes} min`,
        used: `${limit.used_minutes} min`,
        left: `${limit.left_minutes} min`,
      }
    : { allowed: limit.amount, used: limit.used, left: limit.left }
}

type FormProps = { readonly path: string; readonly record: LimitsRecord; readonly onClose: () => void }

function LimitForm({ path, record, onClose }: FormProps) {
  const { api, environment } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async (body: { limits: WantedLimit[]; reason?: string | undefined }) => {
    await api.send(playerLimitsSchema, 'PUT', `${path}?environment=${environment}`, { body })
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Modal title="Set a limit" onClose={onClose}>
      <p>A lower limit holds at once. A higher one, or none, holds after 24 hours.</p>
      <Form
        schema={limitsPutSchema}
        read={(data) => ({ limits: withLimit(record, readLimit(data)), reason: textOf(data, 'reason') })}
        send={act.run}
        {...act}
        submit="Set limit"
      >
        {(faults) => (
          <>
            <Field label="Kind" fault={undefined}>
              <select name="kind">
                <option value="loss">loss</option>
                <option value="stake">stake</option>
                <option value="time">time</option>
              </select>
            </Field>
            <Field label="Period" hint="Of UTC; a week begins on Monday." fault={undefined}>
              <select name="period">
                {limitPeriod.options.map((period) => (
                  <option key={period}>{period}</option>
                ))}
              </select>
            </Field>
            <Field label="Currency" hint="Empty for time." fault={undefined}>
              <input type="text" name="currency" maxLength={5} autoComplete="off" />
            </Field>
            <Field label="Amount, or minutes" hint="Empty: no such limit any more." fault={faults.limits}>
              <input type="text" name="limits" inputMode="decimal" maxLength={40} autoComplete="off" />
            </Field>
            <Field label="Reason" hint="The record keeps it." fault={faults.reason}>
              <input type="text" name="reason" maxLength={500} autoComplete="off" required />
            </Field>
          </>
        )}
      </Form>
    </Modal>
  )
}

/** The limit that the form names, and null in its value for one that is to go. */
function readLimit(data: FormData) {
  const [kind, period, value] = [
    textOf(data, 'kind'),
    limitPeriod.parse(textOf(data, 'period')),
    textOf(data, 'limits'),
  ]
  if (kind === 'time') {
    return {
      name: `time a ${period}`,
      limit: value === '' ? null : ({ kind, period, minutes: Number(value) } as const),
    }
  }
  const currency = textOf(data, 'currency').toUpperCase()
  const money = kind === 'stake' ? 'stake' : 'loss'
  return {
    name: `${money} a ${period}, ${currency}`,
    limit: value === '' ? null : ({ kind: money, period, currency, amount: value } as const),
  }
}

/** All limits as they were last asked for, with this one in the place of the one of its name. */
function withLimit({ changes }: LimitsRecord, { name, limit }: ReturnType<typeof readLimit>): WantedLimit[] {
  const asked: readonly WantedLimit[] = changes[0]?.limits ?? []
  const others = asked.filter((one) => nameOf(one) !== name)
  return limit === null ? [...others] : [...others, limit]
}
