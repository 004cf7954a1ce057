import { anything, DemoError, eventually, expectAnswer } from '../demo-http.ts'
import type { Tour } from '../tour.ts'
import type { TourEndpoint } from './tour-endpoint.ts'

/** A receiver that fails once gets the same event again, by the schedule and not by anybody's hand. */
export async function failingReceiver(
  { demo, log, run, receiver, open, atEnd }: Tour,
  { path }: TourEndpoint,
): Promise<void> {
  log.step(
    'A webhook receiver that fails',
    'the receiver answers 500 to the next delivery; a session is opened all the same',
  )
  const behaviour = new URL('/demo/behaviour', demo.receiver.url).href
  const behaveAgain = () => expectAnswer(204, anything, 'DELETE', behaviour)
  atEnd(behaveAgain)
  await expectAnswer(200, anything, 'PUT', behaviour, { body: { status: 500, count: 1, path } })
  const { session } = await open('dice', `demo-${run}-failing`)
  const arrived = await eventually('the second attempt', async () => {
    const attempts = await receiver.list({ path, mentions: session.session_id })
    return attempts.some(({ answered_status }) => answered_status === 200) ? attempts : null
  })
  for (const { event_id, event_type, attempt, answered_status } of arrived)
    log.detail(
      'webhook',
      `${event_type ?? ''}  ${event_id ?? ''}  attempt ${attempt ?? '?'} → ${answered_status ?? 'no answer'}`,
      { type: event_type, event_id, attempt, answered_status },
    )
  const [first, second, ...others] = arrived
  if (
    first?.answered_status !== 500 ||
    first.attempt !== 1 ||
    second?.attempt !== 2 ||
    others.length > 0 ||
    new Set(arrived.map(({ raw_body }) => raw_body)).size !== 1
  )
    throw new DemoError('expected attempt 1 refused and attempt 2 accepted, with the same bytes')
  const laterS = (Date.parse(second.received_at) - Date.parse(first.received_at)) / 1000
  log.happened(`it recovered by itself: attempt 2 came ${laterS.toFixed(1)} s later with the same bytes`)
  await behaveAgain()
}
