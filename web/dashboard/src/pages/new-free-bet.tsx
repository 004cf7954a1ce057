import { freeBetCreateSchema, freeBetSchema } from '@pitboss/contracts/objects/game'
import { businessSchema } from '@pitboss/contracts/objects/account'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { useFilters } from '../hooks/use-filters.ts'
import { useRead } from '../hooks/use-read.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { textOf } from '../parts/text-of.ts'
import { useZone } from '../time/zone.tsx'
import { instantOf } from '../time/zone-time.ts'
import { useDashboard } from '../session/dashboard-context.ts'
import { GameField } from './player-form.tsx'

const fields = { player_id: freeBetCreateSchema.shape.player_id }

/** Grants free bets to a player. */
export function NewFreeBet({ onClose }: { onClose: () => void }) {
  const { api, environment } = useDashboard()
  const queries = useQueryClient()
  const { filters } = useFilters(fields)
  const { zone } = useZone()
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const business = useRead(businessSchema, 'business')
  const act = useAct(async (body: z.output<typeof freeBetCreateSchema>) => {
    const path = `dashboard/free-bets?environment=${environment}`
    await api.send(freeBetSchema, 'POST', path, { body, idempotencyKey })
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Modal title={`Grant ${environment} free bets`} onClose={onClose}>
      <Form
        schema={freeBetCreateSchema}
        read={(data) => ({
          player_id: textOf(data, 'player_id'),
          game: textOf(data, 'game'),
          currency: textOf(data, 'currency'),
          stake: textOf(data, 'stake'),
          count: Number(textOf(data, 'count')),
          ...expiryOf(textOf(data, 'expires_at'), zone),
        })}
        send={act.run}
        {...act}
        submit="Grant free bets"
        write={{ method: 'POST', path: `dashboard/free-bets?environment=${environment}` }}
      >
        {(faults) => (
          <>
            <Field label="Player" hint="The player_id that your server sends." fault={faults.player_id}>
              <input
                type="text"
                name="player_id"
                defaultValue={filters.player_id ?? ''}
                maxLength={128}
                autoComplete="off"
                required
              />
            </Field>
            <GameField game="" fault={faults.game} />
            <div className="split">
              <Field label="Stake of each" hint="Such as 1.00." fault={faults.stake}>
                <input type="text" name="stake" inputMode="decimal" autoComplete="off" required />
              </Field>
              <Field label="Currency" fault={faults.currency}>
                <select name="currency" required>
                  {business.data?.currencies.map((code) => (
                    <option key={code}>{code}</option>
                  ))}
                </select>
              </Field>
            </div>
            <div className="split">
              <Field label="How many" hint="1 to 1000." fault={faults.count}>
                <input type="number" name="count" min={1} max={1000} defaultValue={1} required />
              </Field>
              <Field label={`End (${zone})`} hint="Empty: they never end." fault={faults.expires_at}>
                <input type="datetime-local" step="1" name="expires_at" />
              </Field>
            </div>
          </>
        )}
      </Form>
    </Modal>
  )
}

function expiryOf(local: string, zone: string): { expires_at?: string } {
  const at = instantOf(local, zone)
  return at === null ? {} : { expires_at: at }
}
