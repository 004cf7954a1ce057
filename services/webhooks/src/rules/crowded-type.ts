import { type EventType, eventType } from '@pitboss/contracts/objects/event'

/**
 * Finds a type among `wanted` whose events go to `endpointsMax` endpoints or more already; null for none. No
 * types stand for all of them, wanted and listened to alike. Source: docs/contract.md, section 8.
 */
export function crowdedType(
  wanted: readonly EventType[],
  listening: readonly { readonly events: readonly EventType[] }[],
  endpointsMax: number,
): EventType | null {
  const crowd = (type: EventType) =>
    listening.filter(({ events }) => events.length === 0 || events.includes(type)).length
  const types = wanted.length === 0 ? eventType.options : wanted
  return types.find((type) => crowd(type) >= endpointsMax) ?? null
}
