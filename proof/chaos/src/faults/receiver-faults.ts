import { setTimeout as delay } from 'node:timers/promises'
import { send } from '../send.ts'
import { type Disturber, disturbRepeatedly } from './disturber.ts'

const restMs = { least: 2000, most: 6000 }
const moods: readonly (readonly [name: string, behaviour: Record<string, unknown>])[] = [
  ['500', { status: 500, count: 12 }],
  ['503 with Retry-After', { status: 503, retry_after: 1, count: 5 }],
  ['drop', { drop: true, count: 8 }],
  ['slow', { delay_ms: 700, count: 20 }],
]

/**
 * Lets the receiver of webhooks misbehave for a few deliveries at a time, until the run ends.
 * @param names of the moods that it has; all unless told
 */
export async function disturbReceiver({
  receiverUrl,
  names = moods.map(([name]) => name),
  ...given
}: Disturber & { receiverUrl: string; names?: readonly string[] | undefined }): Promise<void> {
  const { random, counts } = given
  const url = new URL('/demo/behaviour', receiverUrl).href
  await disturbRepeatedly(given, restMs, async () => {
    const [name, body] = random.pick(moods.filter(([one]) => names.includes(one)))
    const told = await send('PUT', url, { body })
    if (told.status >= 200 && told.status < 300) counts.add(`receiver ${name}`)
  })
  for (let tries = 0; tries < 100; tries++) {
    const told = await send('DELETE', url)
    if (told.status >= 200 && told.status < 300) return
    await delay(100)
  }
  throw new Error('the receiver does not take its behaviour back')
}
