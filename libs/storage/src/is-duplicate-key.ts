import { MongoServerError } from 'mongodb'

const duplicateKey = 11_000

/** Whether a write failed because a unique index has that value already. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === duplicateKey
}
