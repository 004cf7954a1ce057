import { ServiceError } from '@pitboss/errors/service-error'
import { MongoServerError } from 'mongodb'

/** Time that the database may spend on a list or a report; below the 5 s of their calls. Source: ours. */
export const readMaxMs = 4000
const maxTimeExpired = 50

/** Runs a read given `readMaxMs`. @throws ServiceError SERVICE_UNAVAILABLE when it took too long */
export async function boundedRead<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof MongoServerError) || cause.code !== maxTimeExpired) throw cause
    const message = 'This took too long to read. Ask for a shorter window (from, to) or fewer filters.'
    throw new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: 1, cause })
  }
}
