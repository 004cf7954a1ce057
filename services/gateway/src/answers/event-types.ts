import { eventType } from '@pitboss/contracts/objects/event'
import type { Handler } from '../http/inbound.ts'
import { eventDescriptions, exampleOfEvent } from '../openapi/event-examples.ts'
import { openSchema, toJsonSchema } from '../openapi/to-json-schema.ts'
import { envelopeOf } from '../openapi/variants.ts'
import { z } from 'zod'

/** Reply of `GET /v1/public/event-types`. Source: docs/contract.md, section 7. */
export const eventTypesReply = z.strictObject({
  data: z.array(
    z.strictObject({
      type: z.string(),
      description: z.string(),
      schema: z.record(z.string(), z.unknown()),
      example: z.record(z.string(), z.unknown()),
    }),
  ),
})

/** `GET /v1/public/event-types`: a schema and an example of each type's whole envelope. Made once. */
export function createEventTypes(): Handler {
  let json: unknown = null
  return async () => {
    json ??= {
      data: eventType.options.map((type) => ({
        type,
        description: eventDescriptions[type],
        schema: openSchema(toJsonSchema(envelopeOf(type), 'output')),
        example: exampleOfEvent(type),
      })),
    }
    return { status: 200, headers: { 'cache-control': 'public, max-age=300' }, json }
  }
}
