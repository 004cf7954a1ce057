import { z } from 'zod'

const roundSchema = z.looseObject({
  round_id: z.string(),
  game: z.string(),
  bet: z.unknown(),
  outcome: z.unknown(),
})
const envelopeSchema = z.object({ type: z.string(), data: z.record(z.string(), z.unknown()) })
const pageSchema = z.object({ data: z.array(z.unknown()) })
const listenedSchema = z.object({ event: z.string(), verified: z.boolean().optional() })
const completed = 'round.completed'

export type ReadRound = z.infer<typeof roundSchema>

/**
 * The rounds of one line: a round, a `round.completed` event, a page of either, or what `pitboss listen`
 * writes. None for other events and for what it cannot read.
 */
export function readRounds(line: string): ReadRound[] {
  return roundsIn(parseJson(line))
}

function roundsIn(value: unknown): ReadRound[] {
  const listened = listenedSchema.safeParse(value)
  if (listened.success)
    return listened.data.verified === false ? [] : roundsIn(parseJson(listened.data.event))
  const page = pageSchema.safeParse(value)
  if (page.success) return page.data.data.flatMap(roundsIn)
  const envelope = envelopeSchema.safeParse(value)
  if (envelope.success) return envelope.data.type === completed ? roundsIn(envelope.data.data) : []
  const round = roundSchema.safeParse(value)
  return round.success ? [round.data] : []
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
