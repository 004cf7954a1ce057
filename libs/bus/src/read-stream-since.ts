import { jetstreamManager } from '@nats-io/jetstream'
import type { Bus } from './connect-bus.ts'

/** Messages that are asked for at once. */
const atOnce = 64
/** The broker's clock and a database's may differ by this much. */
const clocksApartMs = 5000

type Message = { readonly subject: string; readonly data: Uint8Array }

/**
 * The messages that a stream has taken since a moment, or a little earlier, and that `isMeant` picks. Null
 * when the stream does not reach back to it, or has taken more than `max` since. They are read by sequence,
 * which needs no consumer. @throws what the broker throws
 */
export async function readStreamSince(
  bus: Pick<Bus, 'nc'>,
  stream: string,
  { since, max, isMeant }: { since: Date; max: number; isMeant: (message: Message) => boolean },
): Promise<Message[] | null> {
  const { streams } = await jetstreamManager(bus.nc, { checkAPI: false })
  const get = (seq: number) => streams.getMessage(stream, { seq })
  const { created, state } = await streams.info(stream)
  const fromMs = since.getTime() - clocksApartMs
  const isWhole = state.first_seq <= 1 && Date.parse(created) <= since.getTime()
  const reachesBack = state.messages > 0 && Date.parse(state.first_ts) <= fromMs
  if (!isWhole && !reachesBack) return null

  // The first sequence of the window; what has aged out meanwhile lies before it.
  let [low, high] = [Math.max(1, state.first_seq), state.last_seq + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const message = await get(middle)
    if (message === null || message.time.getTime() < fromMs) low = middle + 1
    else high = middle
  }
  if (state.last_seq - low + 1 > max) return null
  const found: Message[] = []
  for (let first = low; first <= state.last_seq; first += atOnce) {
    const count = Math.min(atOnce, state.last_seq - first + 1)
    const batch = await Promise.all(Array.from({ length: count }, (_, index) => get(first + index)))
    for (const message of batch) if (message !== null && isMeant(message)) found.push(message)
  }
  return found
}
