import { useLocation, useSearch } from 'wouter'
import * as z from 'zod'

type Shape = Readonly<Record<string, z.ZodType<string>>>
type Filters<Fields extends Shape> = { readonly [Name in keyof Fields]?: string }

/**
 * The filters of a page, which live in the address: a link to the page brings them along. Values that a field
 * does not take are left out. Setting begins the list anew: `cursor` goes unless it is set itself.
 */
export function useFilters<Fields extends Shape>(fields: Fields) {
  // Tells of each change; its own text is decoded once already, so that "%25" would read as "%".
  useSearch()
  const [location, navigate] = useLocation()
  const given = new URLSearchParams(window.location.search)
  const filters: Record<string, string> = {}
  for (const [name, schema] of Object.entries(fields)) {
    const parsed = schema.safeParse(given.get(name))
    if (parsed.success && parsed.data !== '') filters[name] = parsed.data
  }
  function addressWith(changes: Readonly<Record<string, string | null>>): string {
    const next = new URLSearchParams(filters)
    next.delete('cursor')
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === '') next.delete(name)
      else next.set(name, value)
    }
    return next.size === 0 ? location : `${location}?${next}`
  }
  return {
    filters: filters as Filters<Fields>,
    addressWith,
    set: (changes: Readonly<Record<string, string | null>>) => navigate(addressWith(changes)),
  }
}

/** Fields that every list has. */
const pageFields = { cursor: z.string().max(2048) }

const instant = z.iso.datetime()
export const rangeNames = ['1h', '24h', '7d', '30d'] as const
export type RangeName = (typeof rangeNames)[number]
/** The fields of a list with a window: a range up to now, or two instants. */
export const windowFields = { ...pageFields, range: z.enum(rangeNames), from: instant, to: instant }
