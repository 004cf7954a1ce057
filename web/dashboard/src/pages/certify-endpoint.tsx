import { webhookCertificationSchema } from '@pitboss/contracts/objects/certification'
import type { WebhookEndpoint } from '@pitboss/contracts/objects/webhook'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAct } from '../hooks/use-act.ts'
import { ActButton } from '../parts/act-button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { useDashboard } from '../session/dashboard-context.ts'

/** Asks once, orders the certification of the receiver and goes to its page. */
export function CertifyEndpoint({
  of: { webhook_id, environment },
}: {
  of: Pick<WebhookEndpoint, 'webhook_id' | 'environment'>
}) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const [asking, setAsking] = useState(false)
  const act = useAct(async () => {
    const path = `dashboard/webhooks/${encodeURIComponent(webhook_id)}/certify`
    const { certification_id } = await api.send(webhookCertificationSchema, 'POST', path)
    await queries.invalidateQueries()
    navigate(`/endpoints/${webhook_id}/certifications/${certification_id}`)
  })
  return (
    <>
      <ActButton
        refused={
          environment === 'LIVE'
            ? 'Its receiver would count made-up events; certify the TEST endpoint.'
            : null
        }
        onPress={() => setAsking(true)}
      >
        Certify
      </ActButton>
      {asking && (
        <Confirm
          title="Certify the receiver"
          act="Certify"
          {...act}
          onConfirm={act.run}
          onClose={() => setAsking(false)}
        >
          <p>
            Every case of the webhook contract is tried: example events of each type, bad signatures, repeats,
            another order, 50 at once. Their ids are made up; they are in no list of events or deliveries.
          </p>
        </Confirm>
      )}
    </>
  )
}
