import { JetStreamApiError } from '@nats-io/jetstream'

/** Codes of JetStream for a stream, or a consumer, that is not there. Without its stream no consumer is. */
export const absentStream: readonly number[] = [10_059]
export const absentConsumer: readonly number[] = [10_014, ...absentStream]

/** What JetStream says of a thing; null when it answers with one of these codes. */
export async function orNull<Info>(
  promise: Promise<Info>,
  absentCodes: readonly number[],
): Promise<Info | null> {
  try {
    return await promise
  } catch (error) {
    if (error instanceof JetStreamApiError && absentCodes.includes(error.code)) return null
    throw error
  }
}
