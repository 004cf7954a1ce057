import {
  eventDataSchemas,
  eventEnvelopeSchema,
  eventType,
  type EventType,
} from '@pitboss/contracts/objects/event'
import { gameBet, gameOutcome } from '@pitboss/contracts/objects/round'
import { games } from '@pitboss/fairness/games/registry'
import type { z } from 'zod'
import type { JsonSchema } from './example-of.ts'

/** Shapes by the name of a type in a generated client. */
type Variants = {
  readonly by: 'anyOf' | 'oneOf'
  readonly shapes: ReadonlyMap<string, z.ZodType | JsonSchema>
}

const bets: Variants = {
  by: 'anyOf',
  shapes: new Map(games.map(({ slug, betSchema }) => [`${pascal(slug)}Bet`, betSchema])),
}

const outcomes: Variants = {
  by: 'anyOf',
  shapes: new Map<string, JsonSchema>([
    ...games.map(({ slug, outcomeSchema }) => [`${pascal(slug)}Outcome`, outcomeSchema] as const),
    [
      'OperatorOutcome',
      {
        type: 'object',
        description: 'Of a round that the operator drives: what it said.',
        additionalProperties: {},
      },
    ],
  ]),
}

const events: Variants = {
  by: 'oneOf',
  // The first is the example of an event.
  shapes: new Map(
    (['round.completed', ...eventType.options] as const).map((type) => [
      eventComponent(type),
      envelopeOf(type),
    ]),
  ),
}

/** What depends on the game of a round, or on the type of an event. */
export const variantsOf: ReadonlyMap<z.core.$ZodType, Variants> = new Map<z.core.$ZodType, Variants>([
  [gameBet, bets],
  [gameOutcome, outcomes],
  [eventEnvelopeSchema, events],
])

/** The whole envelope of an event of one type. */
export function envelopeOf(type: EventType): z.ZodType {
  return eventEnvelopeSchema.extend({ type: eventType.extract([type]), data: eventDataSchemas[type] })
}

/** `RoundCompletedEvent` for `round.completed`. */
export function eventComponent(type: EventType): string {
  return `${pascal(type)}Event`
}

/** `SpinBottle` for `spin-bottle`. */
function pascal(name: string): string {
  return name.replaceAll(/(^|[-.])([a-z])/g, (_match, _mark, letter: string) => letter.toUpperCase())
}
