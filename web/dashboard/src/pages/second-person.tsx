import { businessSchema } from '@pitboss/contracts/objects/account'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAct } from '../hooks/use-act.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNotOwner } from '../session/may.ts'

/** Whether grave acts wait for a second person, and the press that changes it. */
export function SecondPerson({ isWanted }: { isWanted: boolean }) {
  const { api, user } = useDashboard()
  const queries = useQueryClient()
  const [asking, setAsking] = useState(false)
  const close = () => setAsking(false)
  const act = useAct(async () => {
    await api.send(businessSchema, 'PATCH', 'business', { body: { second_person: !isWanted } })
    await queries.invalidateQueries()
    close()
  })
  const name = isWanted ? 'Do without a second person' : 'Want a second person'
  return (
    <section aria-label="Second person">
      <h2>Second person</h2>
      <p className="about">
        {isWanted
          ? 'To delete a LIVE key, to switch a game off and to change the address of the LIVE wallet waits until another OWNER or ADMIN approves it.'
          : 'One person alone can delete a LIVE key, switch a game off and change the address of the LIVE wallet.'}
      </p>
      <ActButton refused={whyNotOwner(user.role)} onPress={() => setAsking(true)}>
        {name}
      </ActButton>
      {asking && (
        <Confirm title={name} act={name} grave {...act} onConfirm={act.run} onClose={close}>
          <p>
            {isWanted
              ? 'Another OWNER or ADMIN has to approve this, too.'
              : 'The account needs two people who are OWNER or ADMIN. To end it again takes both.'}
          </p>
        </Confirm>
      )}
    </section>
  )
}
