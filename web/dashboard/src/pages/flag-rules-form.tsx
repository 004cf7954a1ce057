import { type FlagRules, flagRulesSchema } from '@pitboss/contracts/objects/flag'
import { businessSchema } from '@pitboss/contracts/objects/account'
import { useQueryClient } from '@tanstack/react-query'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import type { Faults } from '../parts/judge-body.ts'
import { Modal } from '../parts/modal.tsx'
import { Panel } from '../parts/panel.tsx'
import { textOf } from '../parts/text-of.ts'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNot } from '../session/may.ts'

/** When flags are raised in the environment of the page. */
export function FlagRulesForm({ onClose }: { onClose: () => void }) {
  const { api, user, environment } = useDashboard()
  const queries = useQueryClient()
  const path = `dashboard/flag-rules/${environment}`
  const rules = useRead(flagRulesSchema, path)
  const business = useRead(businessSchema, 'business')
  const act = useAct(async (body: FlagRules) => {
    await api.send(flagRulesSchema, 'PUT', path, { body })
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Modal title={`When flags are raised in ${environment}`} onClose={onClose}>
      <Panel read={business}>
        {({ currencies }) => (
          <Panel read={rules}>
            {(present) => {
              const all = [...new Set([...currencies, ...present.big_win.map(({ currency }) => currency)])]
              return (
                <Form
                  schema={flagRulesSchema}
                  read={(data) => bodyOf(data, all)}
                  send={act.run}
                  {...act}
                  submit="Save"
                  write={{ method: 'PUT', path }}
                  refused={whyNot(user.role, 'PUT /v1/dashboard/flag-rules/{environment}')}
                >
                  {(faults) => <RuleFields of={present} currencies={all} faults={faults} />}
                </Form>
              )
            }}
          </Panel>
        )}
      </Panel>
    </Modal>
  )
}

type FieldsProps = {
  readonly of: FlagRules
  readonly currencies: readonly string[]
  readonly faults: Faults
}

function RuleFields({ of: rules, currencies, faults }: FieldsProps) {
  const thresholds = new Map(rules.big_win.map(({ currency, amount }) => [currency, amount]))
  return (
    <>
      <p className="hint">They hold for what happens from then on. An empty field raises no flag.</p>
      {faults.big_win !== undefined && <p className="fault">{faults.big_win}</p>}
      {currencies.map((currency) => (
        <Field label={`A win is big from, in ${currency}`} key={currency}>
          <input
            type="text"
            inputMode="decimal"
            name={`big ${currency}`}
            defaultValue={thresholds.get(currency) ?? ''}
            autoComplete="off"
          />
        </Field>
      ))}
      <div className="split">
        <Field
          label="Unclear movements of a player in a UTC day"
          hint="2 to 100."
          fault={faults.unknown_outcomes}
        >
          <input
            type="number"
            name="player"
            min={2}
            max={100}
            defaultValue={rules.unknown_outcomes.player ?? ''}
          />
        </Field>
        <Field label="Unclear movements of the wallet in a UTC day" hint="2 to 100.">
          <input
            type="number"
            name="wallet"
            min={2}
            max={100}
            defaultValue={rules.unknown_outcomes.wallet ?? ''}
          />
        </Field>
      </div>
      <label className="choice">
        <input type="checkbox" name="back" value="yes" defaultChecked={rules.back_after_win} />
        <span>
          Money goes back after a win
          <small>A rollback or a refund in a round that had won before.</small>
        </span>
      </label>
    </>
  )
}

function bodyOf(data: FormData, currencies: readonly string[]) {
  const big_win = currencies.flatMap((currency) => {
    const amount = textOf(data, `big ${currency}`)
    return amount === '' ? [] : [{ currency, amount }]
  })
  const number = (name: string) => (textOf(data, name) === '' ? null : Number(textOf(data, name)))
  const unknown_outcomes = { player: number('player'), wallet: number('wallet') }
  return { big_win, unknown_outcomes, back_after_win: data.get('back') === 'yes' }
}
