import { ServiceError } from '@pitboss/errors/service-error'
import { MongoServerError } from 'mongodb'

/** Time that the database may spend on a list or a report; below the 5 s of their calls. Source: ours. */
export const readMaxMs = 4000
const maxTimeExpired = 50
const usual = {
  message: 'This took too long to read. Ask for a shorter window (from, to) or fewer filters.',
  retryAfterS: 1,
}

/**
 * Runs a read of which the database was told how long it may take.
 * @param refusal what to say when it took longer
 * @throws ServiceError SERVICE_UNAVAILABLE when it took too long
 */
export async function boundedRead<Result>(
  read: () => Promise<Result>,
  refusal: { readonly message: string; readonly retryAfterS?: number } = usual,
): Promise<Result> {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof MongoServerError) || cause.code !== maxTimeExpired) throw cause
    throw new ServiceError('SERVICE_UNAVAILABLE', { ...refusal, cause })
  }
}

/** Reads all that a cursor finds, in `readMaxMs`. @throws ServiceError as `boundedRead` */
export function readToEnd<Found>(cursor: {
  maxTimeMS(ms: number): unknown
  toArray(): Promise<Found[]>
}): Promise<Found[]> {
  cursor.maxTimeMS(readMaxMs)
  return boundedRead(() => cursor.toArray())
}
