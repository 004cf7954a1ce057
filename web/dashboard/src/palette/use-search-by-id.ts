import { searchReply, type Found } from './search-reply.ts'
import { ApiError } from '../api/api-error.ts'
import { useRead } from '../hooks/use-read.ts'
import { useSettled } from '../hooks/use-settled.ts'

const charactersMin = 3
/** While somebody types, nothing is asked. */
const pauseMs = 200

const rooms: Readonly<Record<Found['type'], (id: string, webhookId?: string) => string>> = {
  session: (id) => `/sessions/${id}`,
  round: (id) => `/rounds/${id}`,
  transaction: (id) => `/transactions/${encodeURIComponent(id)}`,
  event: (id) => `/events/${id}`,
  delivery: (id) => `/deliveries/${id}`,
  endpoint: (id) => `/endpoints/${id}`,
  key: (id) => `/keys/${id}`,
  flag: (id) => `/flags/${id}`,
  approval: (id) => `/approvals/${id}`,
  reconciliation: (id) => `/reconciliation/${id}`,
  certification: (id, webhookId) =>
    webhookId === undefined ? `/wallet/certifications/${id}` : `/endpoints/${webhookId}/certifications/${id}`,
  player: (id) => `/player?player_id=${encodeURIComponent(id)}`,
}

/** What has this id, with its address in its own environment. */
export function useSearchById(id: string) {
  const settled = useSettled(id, pauseMs)
  const isLong = id.length >= charactersMin
  const enabled = isLong && settled === id
  const { data, error, isFetching, isPlaceholderData } = useRead(
    searchReply,
    'dashboard/search',
    { id },
    { enabled },
  )
  if (error !== null && !(error instanceof ApiError)) throw error
  // What was found for the text before is no answer to this one.
  const found = enabled && data !== undefined && !isPlaceholderData ? data.data : []
  return {
    busy: isLong && (!enabled || isFetching),
    error,
    hits: found.map(({ type, id: of, environment, webhook_id }) => {
      const mode = environment === 'LIVE' ? 'LIVE' : 'TEST'
      return {
        title: of,
        note: `${type}, ${mode}`,
        href: `~/dashboard/${mode.toLowerCase()}${rooms[type](of, webhook_id)}`,
      }
    }),
  }
}
