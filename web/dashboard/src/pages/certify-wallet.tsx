import { walletCertificationSchema, walletCertifySchema } from '@pitboss/contracts/objects/certification'
import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { useAct } from '../hooks/use-act.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { textOf } from '../parts/text-of.ts'
import { useDashboard } from '../session/dashboard-context.ts'

const path = 'dashboard/wallets/TEST/certify'

/** Asks for the test players, orders the certification and goes to its page. */
export function CertifyWallet({ onClose }: { onClose: () => void }) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const act = useAct(async (body: object) => {
    const { certification_id } = await api.send(walletCertificationSchema, 'POST', path, { body })
    await queries.invalidateQueries()
    onClose()
    navigate(`/wallet/certifications/${certification_id}`)
  })
  return (
    <Modal title="Certify the TEST wallet" onClose={onClose}>
      <p>
        Every case of the wallet contract runs against it: what it answers, repeats, races, rollbacks,
        signatures. A test player’s balance goes up and down by small amounts.
      </p>
      <Form
        schema={walletCertifySchema}
        read={(data) => ({
          player_id: textOf(data, 'player_id'),
          currency: textOf(data, 'currency') || undefined,
          blocked_player_id: textOf(data, 'blocked_player_id') || undefined,
          unknown_player_id: textOf(data, 'unknown_player_id') || undefined,
        })}
        send={act.run}
        busy={act.busy}
        error={act.error}
        submit="Certify"
        write={{ method: 'POST', path }}
      >
        {(faults) => (
          <>
            <Field
              label="Test player"
              hint="Plays for nothing else, and owns at least 100 units."
              fault={faults.player_id}
            >
              <input
                type="text"
                name="player_id"
                defaultValue="certification"
                autoComplete="off"
                spellCheck={false}
              />
            </Field>
            <Field label="Currency" hint="Empty: the first one of the account." fault={faults.currency}>
              <input type="text" name="currency" autoComplete="off" spellCheck={false} />
            </Field>
            <Field
              label="A blocked player"
              hint="Empty: what a blocked player is told is not tried."
              fault={faults.blocked_player_id}
            >
              <input type="text" name="blocked_player_id" autoComplete="off" spellCheck={false} />
            </Field>
            <Field
              label="A player who does not exist"
              hint="Empty: what becomes of a stake of nobody is not tried."
              fault={faults.unknown_player_id}
            >
              <input type="text" name="unknown_player_id" autoComplete="off" spellCheck={false} />
            </Field>
          </>
        )}
      </Form>
    </Modal>
  )
}
