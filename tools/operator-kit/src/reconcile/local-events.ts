import { idTimeMs } from '@pitboss/runtime/new-id'
import { z } from 'zod'
import { readLines } from '../shared/read-lines.ts'

const idPattern = /\bevt_[0-9a-hjkmnp-tv-z]{26}\b/
const testType = 'webhook.test'

/** A line of JSON: an envelope, a line of `pitboss listen`, or anything else that names the event. */
const lineSchema = z.object({
  id: z.string().optional(),
  event_id: z.string().optional(),
  type: z.string().optional(),
  event_type: z.string().optional(),
  created_at: z.iso.datetime({ offset: true }).optional(),
  /** False for what `pitboss listen` was sent and did not accept. */
  verified: z.boolean().optional(),
})

export type LocalEvent = {
  readonly id: string
  /** Time of the event: from the line, else from the id. */
  readonly atMs: number
}

/** Event ids in the order of the list, each once. */
export type LocalEvents = { readonly events: readonly LocalEvent[]; readonly linesWithoutId: number }

/**
 * Reads a list of events: JSON lines (ids, envelopes, or what `pitboss listen` prints) or CSV (the first
 * event id of each line), or every `.jsonl`, `.json` and `.csv` file of a folder, in the order of their
 * names. Tests of an endpoint are no events and left out.
 */
export async function readLocalEvents(path: string): Promise<LocalEvents> {
  const events = new Map<string, LocalEvent>()
  let linesWithoutId = 0
  for await (const line of readLines(path)) {
    const event = readLine(line)
    if (event === null) linesWithoutId += 1
    else if (event !== 'test' && !events.has(event.id)) events.set(event.id, event)
  }
  return { events: [...events.values()], linesWithoutId }
}

function readLine(line: string): LocalEvent | 'test' | null {
  const parsed = lineSchema.safeParse(parseJson(line))
  if (!parsed.success) return eventOf(line)
  const { data } = parsed
  if ((data.type ?? data.event_type) === testType) return 'test'
  return data.verified === false ? null : eventOf(data.event_id ?? data.id, data.created_at)
}

function eventOf(text: string | undefined, createdAt?: string): LocalEvent | null {
  const id = idPattern.exec(text ?? '')?.[0]
  if (id === undefined) return null
  return { id, atMs: createdAt === undefined ? idTimeMs(id) : Date.parse(createdAt) }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
