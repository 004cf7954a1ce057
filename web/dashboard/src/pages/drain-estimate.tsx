import { drainMs, type Pace, slowestPace } from '@pitboss/contracts/delivery-pace'
import { countedMax } from '@pitboss/contracts/objects/overview'
import { deliverySchema } from '@pitboss/contracts/objects/webhook'
import { pageOf } from '@pitboss/contracts/primitives'
import { useState } from 'react'
import { useRead } from '../hooks/use-read.ts'
import { Field } from '../parts/field.tsx'
import { durationText } from '../picture/lay-out.ts'
import { useDashboard } from '../session/dashboard-context.ts'

const deliveriesPage = pageOf(deliverySchema)
const lastDelivered = '20'
const answerMsDefault = 200
const answerMsMax = 15_000

type EstimateProps = {
  readonly webhookId: string
  readonly count: number
  /** Attempts at the same time. */
  readonly inFlightMax: number
  /** Of a replay, or of what a pause has held. */
  readonly isReplay: boolean
}

/** How long a backlog takes, before one lets it go: by the rules of the service's own pace. */
export function DrainEstimate({ webhookId, count, inFlightMax, isReplay }: EstimateProps) {
  const { environment } = useDashboard()
  const query = { environment, webhook_id: webhookId, status: 'DELIVERED', limit: lastDelivered }
  const read = useRead(deliveriesPage, 'dashboard/webhook-deliveries', query)
  const [typed, setTyped] = useState<string | null>(null)
  const usual = medianOf(read.data?.data.flatMap(({ last_attempt: one }) => one?.duration_ms ?? []) ?? [])
  const answerMs = Math.min(Math.max(Number(typed ?? usual ?? answerMsDefault) || 1, 1), answerMsMax)
  const pace: Pace = isReplay ? { inFlight: inFlightMax, successes: 0 } : slowestPace
  const ms = drainMs({ count, answerMs, inFlightMax, pace, isReplay })
  const many = count >= countedMax && !isReplay
  return (
    <div className="estimate">
      <Field
        label="If the receiver answers in … milliseconds"
        hint={
          usual === null
            ? 'There is no delivery to learn from yet.'
            : `The middle of its last answers: ${usual}.`
        }
      >
        <input
          type="number"
          min={1}
          max={answerMsMax}
          value={typed ?? String(usual ?? answerMsDefault)}
          onChange={(event) => setTyped(event.target.value)}
        />
      </Field>
      <p role="status" data-testid="estimate">
        {many ? `${countedMax} deliveries or more` : `${count} ${count === 1 ? 'delivery' : 'deliveries'}`}{' '}
        {many ? 'take at least' : 'are out in about'} <strong>{durationText(ms)}</strong>
        {isReplay
          ? ': a replay takes a quarter of the places, so that new events do not wait for it.'
          : `: one at first, then twice as many with each round of successes, up to ${inFlightMax} at the same time.`}{' '}
        What fails goes on by the schedule.
      </p>
    </div>
  )
}

/** The middle of some numbers, rounded; null for none. */
function medianOf(numbers: readonly number[]): number | null {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)]
  return middle === undefined ? null : Math.round(middle)
}
