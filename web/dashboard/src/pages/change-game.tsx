import { type Game, gamePatchSchema, gameSchema } from '@pitboss/contracts/objects/game'
import { useQueryClient } from '@tanstack/react-query'
import type * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { textOf } from '../parts/text-of.ts'
import { useDashboard } from '../session/dashboard-context.ts'

/** Switches a game on or off for the account, and narrows its stakes. */
export function ChangeGame({ of: game, onClose }: { of: Game; onClose: () => void }) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const path = `dashboard/games/${game.slug}`
  const act = useAct(async (body: z.output<typeof gamePatchSchema>) => {
    await api.send(gameSchema, 'PATCH', path, { body })
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Modal title={game.name} onClose={onClose}>
      <Form
        schema={gamePatchSchema}
        read={(data) => bodyOf(data, game)}
        send={act.run}
        {...act}
        submit="Save"
        write={{ method: 'PATCH', path }}
      >
        {(faults) => (
          <>
            <label className="choice">
              <input type="checkbox" name="enabled" value="yes" defaultChecked={game.enabled} />
              <span>
                Players can play it
                <small>Off: no new session and no new round, in TEST and LIVE. Open rounds go on.</small>
              </span>
            </label>
            <p className="hint">
              Stakes and payouts lie within the platform's limits. A session can narrow its stakes once more.
              A highest payout below the platform's holds for the wins of rounds that your server drives, too.
            </p>
            {faults.limits !== undefined && <p className="fault">{faults.limits}</p>}
            {game.limits.map(({ currency, min_stake, max_stake, max_payout }) => (
              <div className="split" key={currency}>
                {(
                  [
                    ['Least stake', 'min', min_stake],
                    ['Highest stake', 'max', max_stake],
                    ['Highest payout of a round', 'payout', max_payout],
                  ] as const
                ).map(([label, name, amount]) => (
                  <Field key={name} label={`${label} in ${currency}`}>
                    <input
                      type="text"
                      inputMode="decimal"
                      name={`${name} ${currency}`}
                      defaultValue={amount}
                      autoComplete="off"
                    />
                  </Field>
                ))}
              </div>
            ))}
          </>
        )}
      </Form>
    </Modal>
  )
}

/** What differs from the game as it was read: a limit that nobody touched stays the platform's to change. */
function bodyOf(data: FormData, game: Game) {
  const enabled = data.get('enabled') === 'yes'
  const limits = game.limits.flatMap(({ currency, min_stake, max_stake, max_payout }) => {
    const now = { min_stake: textOf(data, `min ${currency}`), max_stake: textOf(data, `max ${currency}`) }
    const payout = textOf(data, `payout ${currency}`)
    const lowered = payout === max_payout ? {} : { max_payout: payout }
    const same = now.min_stake === min_stake && now.max_stake === max_stake && payout === max_payout
    return same ? [] : [{ currency, ...now, ...lowered }]
  })
  return {
    ...(enabled === game.enabled ? {} : { enabled }),
    ...(limits.length === 0 ? {} : { limits }),
  }
}
