import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import * as z from 'zod'
import { deliveryDetailSchema } from '@pitboss/contracts/objects/webhook'
import { useAct } from '../hooks/use-act.ts'
import { useRead } from '../hooks/use-read.ts'
import { ActButton } from '../parts/act-button.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { useDashboard } from '../session/dashboard-context.ts'

const testReply = z.object({ delivery_id: z.string() })
const lookAgainMs = 1000

/** Sends a test delivery and follows it to its end. */
export function SendTest({ webhookId }: { webhookId: string }) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [deliveryId, setDeliveryId] = useState<string | null>(null)
  const act = useAct(async () => {
    const path = `dashboard/webhooks/${encodeURIComponent(webhookId)}/test`
    setDeliveryId((await api.send(testReply, 'POST', path)).delivery_id)
    await queries.invalidateQueries()
  })
  return (
    <>
      <ActButton look="main-button" busy={act.busy} onPress={() => void act.run()}>
        Send test
      </ActButton>
      <ErrorNotice error={act.error} />
      {deliveryId !== null && <TestResult key={deliveryId} deliveryId={deliveryId} />}
    </>
  )
}

function TestResult({ deliveryId }: { deliveryId: string }) {
  const { environment } = useDashboard()
  const path = `dashboard/webhook-deliveries/${deliveryId}`
  const [ended, setEnded] = useState(false)
  const { data } = useRead(
    deliveryDetailSchema,
    path,
    { environment },
    { everyMs: ended ? false : lookAgainMs },
  )
  if (data !== undefined && data.status !== 'PENDING' && !ended) setEnded(true)
  const queries = useQueryClient()
  useEffect(() => {
    if (ended) void queries.invalidateQueries()
  }, [ended, queries])
  const last = data?.last_attempt
  const said =
    data === undefined || data.status === 'PENDING'
      ? 'The test is on its way.'
      : data.status === 'DELIVERED'
        ? `Test delivered: the receiver answered ${last?.http_status ?? ''}.`
        : `Test failed: ${last?.error ?? `the receiver answered ${last?.http_status ?? 'nothing'}`}.`
  return (
    <p role="status" className="act-result notice" data-tone="plain">
      {said} <Link href={`/deliveries/${deliveryId}`}>See the delivery</Link>
    </p>
  )
}
