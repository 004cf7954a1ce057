import { createHash } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const timeCharacters = 10
const hashCharacters = 16

/**
 * The only id that a delivery of an event to an endpoint can have: the ten characters of time of the event
 * id, and 80 bits of a hash over event, endpoint and generation. A repeated fan-out therefore finds the
 * deliveries that it created before. Source: ours.
 */
export function deliveryIdOf(eventId: string, webhookId: string, generation: number): string {
  const [, eventText = ''] = eventId.split('_')
  const hash = createHash('sha256').update(`${eventId}/${webhookId}/${generation}`).digest()
  let text = ''
  for (let position = 0; position < hashCharacters; position++) {
    text += alphabet.charAt((hash[position] ?? 0) & 31)
  }
  return `dlv_${eventText.slice(0, timeCharacters)}${text}`
}
